"""The one decorator kernels are compiled with, and where their machine code is kept.

Numba's own cache compares only the file a kernel stands in, so a changed callee or constant in
another file would run stale code, and it fails at import where it finds no place to write. Here the
code lies in the user's cache folder, under a hash of all kernel sources; where that folder cannot
be written, kernels are compiled anew in each process. ``NUMBA_CACHE_DIR`` moves the cache,
``NUMBA_DISABLE_JIT=1`` switches compiling off.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

config: Any = numba.config  # it sets its attributes at run time, which types cannot follow
P = ParamSpec("P")
R = TypeVar("R")

_decorating = threading.Lock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """`function` compiled on its first call with each set of argument types.

    Runs without the GIL, divides as NumPy does (no exception), checks no bounds.
    """
    return _compiled(function, _OPTIONS)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As :func:`kernel`, for loops that are called so often that the call itself would count.

    LLVM puts the small ones in their callers' place in any case.
    """
    return _compiled(function, _OPTIONS | {"forceinline": True})


def _compiled(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    folder = cache_folder()
    with _decorating:  # numba reads the setting while decorating only; others keep theirs
        before = config.CACHE_DIR
        config.CACHE_DIR = str(folder or "")
        try:
            if not numba.__version__.startswith(_KNOWN) or config.DISABLE_JIT:
                compiled: Any = numba.njit(**options, cache=folder is not None)(function)
                return cast("Callable[P, R]", compiled)
            from snapcompact_kernels._light import LightCache
            from snapcompact_kernels._parts import KernelDispatcher

            compiled = KernelDispatcher(function, targetoptions=options | {"nopython": True})
            if folder is not None:
                compiled._cache = LightCache(function)
            return cast("Callable[P, R]", compiled)
        finally:
            config.CACHE_DIR = before


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # no way in from C: a twentieth of the time to compile
}

_KNOWN = ("0.68.",)
"""Versions of numba that ``_parts.py`` and ``_light.py`` were seen to work with; others compile and
load kernels their own way."""

_CACHE_BYTES = 8 << 20
"""Room asked for before the cache is used; all kernels compiled take about half of it."""


@cache
def cache_folder() -> Path | None:
    """Folder of this version's compiled kernels, made if missing; None where none can be kept."""
    sources = Path(__file__).parent
    if not sources.is_dir():  # imported from a zip: numba cannot stamp the sources
        return None
    try:
        folder = _cache_root() / "numba" / _version(sources)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as room:
            os.posix_fallocate(room.fileno(), 0, _CACHE_BYTES)  # a full disk must not end a run
            return folder
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return None


def cache_is_warm(module: str = "*") -> bool:
    """True if `module` (such as ``features``; any by default) has compiled code to load.

    Ask before the first call of a kernel: False means that call compiles, which takes seconds.
    """
    folder = cache_folder()
    return bool(config.DISABLE_JIT) or (
        folder is not None and any(folder.glob(f"*/{module}.*.nbc"))
    )


def _version(sources: Path) -> str:
    """16 hex digits that change with any kernel source and with numba itself."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(sources.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """The user's cache folder for snapcompact, by the platform's custom."""
    if override := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(override) / "snapcompact"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "snapcompact"
