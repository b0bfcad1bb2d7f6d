# SPDX-License-Identifier: Apache-2.0
"""Access to the compiled kernels.

A kernel file (``_*kernels.py``) is plain Python with Cython types. Installed with a compiler at hand it is an
extension module; otherwise the very same file runs interpreted, with the same results and one warning.

What several kernels share lies in this folder: sorting, packed words and their boxes, and random draws. Each of these
files has a ``.pxd`` beside it, by which a compiled kernel calls it without Python between them; an interpreted kernel
imports it as any module.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import warnings
from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from glasshouse.errors import InterpretedKernelsWarning

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compiled", "interpreted"]

_warned = False


def compiled(name: str) -> Any:
    """Return the kernel module ``name``, compiled if it was compiled, else interpreted after one warning.

    >>> compiled("glasshouse.kernels._random_kernels").__name__
    'glasshouse.kernels._random_kernels'
    """
    module = importlib.import_module(name)
    if _is_extension(module):
        return module
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "the compiled parts of Glasshouse are missing, so it uses interpreted ones: the results are the same, but "
            "it is hundreds of times slower. Install a C compiler and the Python headers (Debian: gcc python3-dev) "
            "and reinstall glasshouse",
            InterpretedKernelsWarning,
            stacklevel=2,
        )
    return _on_plain_integers(module)


def interpreted(name: str) -> Any:
    """Return the kernel module ``name`` run from its source, whether or not it was compiled; for tests.

    >>> interpreted("glasshouse.kernels._random_kernels").__name__
    'glasshouse.kernels._random_kernels'
    """
    return _on_plain_integers(_from_source(name))


def _from_source(name: str) -> ModuleType:
    """Run the source of a kernel and of the kernels that it imports; other imports stay unchanged."""
    path = Path(__file__).parent.parent.joinpath(*name.split(".")[1:]).with_suffix(".py")
    loader = SourceFileLoader(name, path.as_posix())
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import_from_source}
    loader.exec_module(module)
    return module


def _import_from_source(name: str, *arguments: Any) -> ModuleType:
    """What ``import`` does in a kernel that is run from its source."""
    return _from_source(name) if name.endswith("kernels") else builtins.__import__(name, *arguments)


def _is_extension(module: ModuleType) -> bool:
    return (module.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES))


def _on_plain_integers(module: ModuleType) -> SimpleNamespace:
    """Wrap each function so that arrays are indexed as Python numbers: no overflow, and three times faster."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def on_views(*arguments: Any) -> Any:
            return function(*(memoryview(cast("Any", a)) if isinstance(a, np.ndarray) else a for a in arguments))

        return on_views

    functions = {
        n: wrap(f) for n, f in vars(module).items() if callable(f) and getattr(f, "__module__", "") == module.__name__
    }
    return SimpleNamespace(__name__=module.__name__, **functions)
