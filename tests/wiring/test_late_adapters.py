"""What stands for an adapter until somebody needs it."""

from __future__ import annotations

import pytest

from gemini_companion.wiring.late import late


class Adapter:
    """Counts how often one was made."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.limit = 7

    def work(self, by: int) -> int:
        return self.limit * by

    def close(self) -> str:
        return "closed"


@pytest.fixture(autouse=True)
def none_made() -> None:
    Adapter.made = 0


def test_it_is_made_once_with_the_first_use_and_does_what_it_would():
    adapter = late(Adapter)
    assert Adapter.made == 0
    assert (adapter.work(3), adapter.limit) == (21, 7)
    assert Adapter.made == 1


def test_it_is_an_instance_of_what_it_stands_for():
    assert isinstance(late(Adapter), Adapter)


def test_what_needs_no_adapter_makes_none_and_asks_the_one_that_is_there():
    adapter = late(Adapter, close=lambda: "nothing to close")
    assert adapter.close() == "nothing to close"
    assert Adapter.made == 0
    adapter.work(1)
    assert adapter.close() == "closed"


def test_a_fault_goes_to_whoever_uses_it_and_the_next_use_tries_again():
    tries: list[int] = []

    def make() -> Adapter:
        tries.append(len(tries))
        if len(tries) == 1:
            raise ImportError("no such module")
        return Adapter()

    adapter = late(make)
    with pytest.raises(ImportError):
        adapter.work(1)
    assert adapter.work(1) == 7


def test_what_it_has_not_is_missing_as_it_would_be():
    with pytest.raises(AttributeError):
        late(Adapter).nothing  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
