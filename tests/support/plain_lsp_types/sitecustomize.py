"""On the path of a Python process: `lsprotocol.types` is imported whole, before the daemon can have it built on demand."""

import lsprotocol.types as _whole

assert _whole
