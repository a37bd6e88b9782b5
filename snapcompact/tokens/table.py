"""The learned costs of one tokenizer family, as a small file.

A file is ``SCTK``, a version byte, the length of its header (uint32, little-endian), the header
(JSON: family, style of the machine, source, errors measured on held-out text), then one Zstandard
frame of the arrays in the order of :data:`LAYOUT`. bench/calibrate_tokens.py writes them.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import DiskError, UnknownNameError
from snapcompact.tokens.machine import ROW_COUNT, ROW_SIZE, Style

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"SCTK\x01"
FOLDER = Path(__file__).parent / "tables"
CELLS = ROW_COUNT * ROW_SIZE
SLOTS = 1 << 18
"""Places of ``words``: 65,536 buckets of four."""
LAYOUT = (("costs", CELLS), ("rare_costs", CELLS), ("tags", SLOTS), ("word_costs", SLOTS))
"""Name and length of each uint8 array in the frame. Tags and costs apart compress better."""
ARRAY_BYTES = sum(length for _, length in LAYOUT)


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one setting on held-out transcripts, in percent of the exact count."""

    total: float
    """Signed, over all of the text."""
    p95_4k: float
    """95th percentile over chunks of 4 KiB, without sign; the next over 64 KiB."""
    p95_64k: float
    worst_1m: float
    """Largest over chunks of 1 MiB, without sign."""
    p95_lines: float
    """95th percentile over lines of 20 to 199 bytes, without sign."""


@dataclass(frozen=True, slots=True)
class Table:
    """Costs of a family, in 1/256 token; see snapcompact_kernels.features for their layout.

    ``costs`` are for counting by bytes alone, ``rare_costs`` for words not in ``words``.
    """

    family: str
    style: Style
    source: str
    errors: Errors
    errors_fast: Errors
    costs: NDArray[np.uint8]
    rare_costs: NDArray[np.uint8]
    words: NDArray[np.uint16]


def families() -> tuple[str, ...]:
    """Names of the tokenizer families there are tables for, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tokens")))


@cache
def load_table(family: str) -> Table:
    """The table of `family`.

    Raises UnknownNameError for a family without a table, DiskError for a damaged file.
    """
    path = FOLDER / f"{family}.tokens"
    if family not in families():
        known = ", ".join(families())
        raise UnknownNameError(f"no token table for the family {family!r}; there are: {known}")
    try:
        return decode_table(path.read_bytes())
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise DiskError(f"{path}: damaged token table ({error}); reinstall snapcompact") from error


def encode_table(table: Table) -> bytes:
    """`table` as the bytes of its file; the same bytes for the same table and compressor."""
    from dataclasses import asdict

    import zstandard

    header = {
        "family": table.family,
        "style": table.style._asdict(),
        "source": table.source,
        "errors": asdict(table.errors),
        "errors_fast": asdict(table.errors_fast),
    }
    packed = json.dumps(header, indent=1).encode()
    tags, word_costs = (table.words >> 8).astype(np.uint8), (table.words & 255).astype(np.uint8)
    arrays = b"".join(a.tobytes() for a in (table.costs, table.rare_costs, tags, word_costs))
    frame = zstandard.ZstdCompressor(level=19).compress(arrays)
    return MAGIC + struct.pack("<I", len(packed)) + packed + frame


def decode_table(data: bytes) -> Table:
    """The table in `data`, its arrays read-only; ValueError or KeyError where it is damaged."""
    import zstandard

    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not start as a token table of this version")
    (size,) = struct.unpack_from("<I", data, len(MAGIC))
    head = len(MAGIC) + 4
    header = json.loads(data[head : head + size])
    try:
        frame = zstandard.ZstdDecompressor().decompress(
            data[head + size :], max_output_size=ARRAY_BYTES
        )
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if len(frame) != ARRAY_BYTES:
        raise ValueError(f"{len(frame)} bytes of costs, not {ARRAY_BYTES}")
    ends = np.cumsum([length for _, length in LAYOUT])[:-1]
    costs, rare_costs, tags, word_costs = np.split(np.frombuffer(frame, np.uint8), ends)
    words = tags.astype(np.uint16) << np.uint16(8) | word_costs
    words.flags.writeable = False
    return Table(
        family=header["family"],
        style=Style(**header["style"]),
        source=header["source"],
        errors=Errors(**header["errors"]),
        errors_fast=Errors(**header["errors_fast"]),
        costs=costs,
        rare_costs=rare_costs,
        words=words,
    )
