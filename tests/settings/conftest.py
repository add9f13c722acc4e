"""What tests of settings share."""

from pathlib import Path

import pytest

from tests.support.settings_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
