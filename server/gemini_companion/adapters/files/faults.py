"""What goes wrong with files, as sentences for the model."""

from __future__ import annotations

import errno
import os
from typing import Final

from gemini_companion.adapters.files.folder import Strayed
from gemini_companion.tools.paths import gone
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolRefusal

_SENTENCES: Final = {
    errno.ENOENT: "{} does not exist.",
    errno.EACCES: "There is no permission for {}.",
    errno.EPERM: "There is no permission for {}.",
    errno.EROFS: "{} is on a file system that cannot be written.",
    errno.ENOSPC: "There is no room left on the disk: {} was not written.",
    errno.EDQUOT: "The quota of the disk is used up: {} was not written.",
    errno.EISDIR: "{} is a folder.",
    errno.ENOTDIR: "A name on the way to {} is not a folder.",
    errno.EEXIST: "{} exists already.",
    errno.ENAMETOOLONG: "The name {} is too long.",
    errno.ELOOP: "{} is a link, or was replaced by one while it was looked at. It was left alone.",
}


def refusal(fault: OSError, place: Place) -> ToolRefusal:
    """What the model is told of a fault of the operating system."""
    if fault.errno == errno.ENOENT and place.root is not None and not os.path.isdir(place.root):
        return ToolRefusal(gone(place.root))
    number = errno.ELOOP if isinstance(fault, Strayed) else fault.errno
    sentence = _SENTENCES.get(number or 0)
    if sentence is None:
        return ToolRefusal(f"{place.shown}: {fault.strerror or type(fault).__name__}.")
    return ToolRefusal(sentence.format(place.shown))
