# SPDX-License-Identifier: Apache-2.0
"""Exchange: two folders change places in one step, so that nobody ever finds one of the two places empty.

A plain rename cannot replace a folder that holds something. Linux (``renameat2``) and macOS (``renamex_np``) exchange
two names in one step; a file system that cannot is told apart from one on which something went wrong.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["exchange"]

_HERE = -100  # AT_FDCWD: paths are relative to the working folder
_SWAP = 2  # RENAME_EXCHANGE on Linux, and RENAME_SWAP on macOS
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def exchange(one: Path, other: Path) -> bool:
    """Let two folders of one file system change places at once; False if system or file system cannot.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("old", "new"):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "what").write_text(name)
    >>> exchange(folder / "old", folder / "new") and (folder / "old" / "what").read_text()
    'new'
    """
    import ctypes  # here, for only whoever replaces something needs it

    system = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = _call(system.renamex_np, first, second, ctypes.c_uint(_SWAP))
        else:
            failed = _call(system.renameat2, _HERE, first, _HERE, second, ctypes.c_uint(_SWAP))
    except AttributeError:  # an older system, which has no such call
        return False
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _call(function: Any, *arguments: Any) -> int:
    return int(function(*arguments))
