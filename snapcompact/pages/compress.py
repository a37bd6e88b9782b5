"""Scanlines to a zlib stream."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import deflate
from isal import isal_zlib

from snapcompact.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray


def _isal(scanlines: NDArray[np.uint8]) -> bytes:
    return bytes(isal_zlib.compress(scanlines, 1))


def _libdeflate(scanlines: NDArray[np.uint8]) -> bytes:
    return bytes(deflate.zlib_compress(scanlines, 8))


EFFORTS: Mapping[str, Callable[[NDArray[np.uint8]], bytes]] = MappingProxyType(
    {"fast": _isal, "smaller": _libdeflate}
)
"""How hard to pack: ``fast`` for speed, ``smaller`` for bytes."""


def compress(scanlines: NDArray[np.uint8], effort: str) -> bytes:
    """The zlib stream of `scanlines`; raises UnknownNameError if `effort` is not in EFFORTS."""
    if effort not in EFFORTS:
        raise UnknownNameError(f"unknown effort {effort!r}: known are {', '.join(EFFORTS)}")
    return EFFORTS[effort](scanlines)
