"""A font as the arrays that kernels take: rows of bits to print, hashes to find glyphs by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import UsageError
from snapcompact.fonts.atlas import NO_GLYPH, Atlas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from snapcompact.pages.shape import Shape

_PLAIN = np.array([9, 10, *range(32, 127)])
"""The bytes that are their own cells in every font drawn here."""
_SEEDS = 64
"""Sets of hash factors to try; for 5,000 glyphs each fails with a chance of 0.3 %."""
_FOLDED = 7
"""Scanlines that a fold is made of, as ``hashes.fold_row`` has it: an even number would not tell
glyphs apart that differ in all of a column."""
_FOLDS, _FOLD_SEEDS = (7, 8, 10), 48
"""Numbers of folds to try, and how often each, before all scanlines are taken as they are.

Seven tell the 1,267 glyphs of our largest font apart in one try of six, six in one of seventy; a
third of these tries has each of 16 scanlines in folds of its own.
"""
_RIGHT_HALF = -3


@dataclass(frozen=True, eq=False)
class GlyphTables:
    """Arrays of one atlas, read-only and contiguous.

    ``plain``: printable ASCII, tab and line end are their own cells. ``bits`` (ids, height) uint64
    holds each scanline right-aligned; ``columns`` (ids, words) uint64 the same with 8 scanlines a
    word, the uppermost lowest, for glyphs up to 8 px wide (no words else). ``changing`` (height,)
    is true where fewer small letters differ from the scanline above than have ink. ``folds``
    (folds, 7) int32 and ``factors`` (folds,) uint32 make the hash of ``hashes.hash_any``;
    ``singles`` and ``pairs`` are open tables as ``match.find`` has them, from hash to glyph id, for
    single glyphs, and from the mixed hash of two halves, for wide ones.
    """

    atlas: Atlas
    plain: bool
    bits: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    changing: NDArray[np.bool_]
    folds: NDArray[np.int32]
    factors: NDArray[np.uint32]
    singles: NDArray[np.uint64]
    pairs: NDArray[np.uint64]


@lru_cache(maxsize=8)
def glyph_tables(atlas: Atlas) -> GlyphTables:
    """The tables of `atlas`, made once.

    Raises UsageError if the font cannot print pages that decode: paper that is not blank, wide
    glyphs that could be read as other glyphs, more than 64 px across, or twins.
    """
    if atlas.width > 64:
        raise UsageError(f"font {atlas.name!r} is {atlas.width} px wide; at most 64 are printed")
    if atlas.bitmaps[32].any() or atlas.glyph_of[32] != 32:
        raise UsageError(f"font {atlas.name!r} has ink in its blank (U+0020), which is also paper")
    weights = np.left_shift(np.uint64(1), np.arange(atlas.width, dtype=np.uint64)[::-1])
    bits = (atlas.bitmaps.astype(np.uint64) * weights).sum(axis=2, dtype=np.uint64)
    singles = np.flatnonzero((atlas.codes != -1) & (atlas.codes != _RIGHT_HALF) & ~atlas.wide)
    pairs = np.flatnonzero(atlas.wide)
    _refuse_two_readings(atlas, bits, singles, pairs)
    looks = _looks(bits, singles, pairs)
    for folds, factors in _hash_functions(atlas.height):
        hashes = hash_bits(bits, folds, factors)
        pair_hashes = mix_pair(hashes[pairs], hashes[pairs + 1])
        if all(map(_distinct, (hashes[looks], hashes[singles], pair_hashes))):
            plain = bool((atlas.glyph_of[_PLAIN] == _PLAIN).all() and not atlas.wide[_PLAIN].any())
            return GlyphTables(
                atlas=atlas,
                plain=plain,
                bits=bits,
                columns=_columns(bits, atlas.width),
                changing=_changing(bits),
                folds=folds,
                factors=factors,
                singles=_open_table(hashes[singles], singles),
                pairs=_open_table(pair_hashes, pairs),
            )
    raise UsageError(f"font {atlas.name!r} has two glyphs that look the same")


@lru_cache(maxsize=4)
def rows_filtered(shape: Shape, atlas: Atlas) -> NDArray[np.bool_]:
    """(pitch height,) true where scanlines at that place are packed as what changes from above.

    A page is 7 to 10 % smaller so, with any compressor; the upright strokes of letters vanish. The
    uppermost place never is: its neighbour above belongs to other glyphs.
    """
    rows = np.zeros(shape.pitch_height, np.bool_)
    top = (shape.pitch_height - atlas.height) // 2
    rows[top : top + atlas.height] = glyph_tables(atlas).changing
    rows[0] = False
    return rows


def check_fits(shape: Shape, atlas: Atlas) -> None:
    """Raise UsageError if the glyphs of `atlas` are larger than the pitch of `shape`."""
    if atlas.width > shape.pitch_width or atlas.height > shape.pitch_height:
        raise UsageError(
            f"shape {shape.name!r}: glyphs of {atlas.width}x{atlas.height} px do not fit "
            f"its pitch of {shape.pitch_width}x{shape.pitch_height} px"
        )


def hash_bits(
    bits: NDArray[np.uint64], folds: NDArray[np.int32], factors: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """The hash of each glyph in `bits` (ids, height), as ``hashes.hash_any`` has it of pixels."""
    hashes = np.zeros(bits.shape[0], np.uint32)
    lines = np.pad(bits, ((0, 0), (0, 1)))
    for fold, factor in zip(folds, factors, strict=True):
        folded = np.bitwise_xor.reduce(lines[:, fold], axis=1)
        hashes += (folded ^ folded >> np.uint64(32)).astype(np.uint32) * factor
    return hashes


def mix_pair(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """One hash for two halves side by side, as ``match.read_row`` mixes them."""
    return left * np.uint32(0x9E3779B1) + right


def _columns(bits: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """``GlyphTables.columns`` of `bits`."""
    if width > 8:
        return np.empty((bits.shape[0], 0), np.uint64)
    words = -(-bits.shape[1] // 8)
    padded = np.zeros((bits.shape[0], 8 * words), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8").astype(np.uint64)


def _changing(bits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """``GlyphTables.changing`` of `bits`."""
    letters = bits[ord("a") : ord("z") + 1]
    changes = np.diff(letters, axis=1, prepend=np.uint64(0)) != 0
    return np.asarray(changes.sum(axis=0) < (letters != 0).sum(axis=0))


def _looks(
    bits: NDArray[np.uint64], singles: NDArray[np.intp], pairs: NDArray[np.intp]
) -> NDArray[np.intp]:
    """One id for each different look that a cell of a page may have."""
    printed = np.concatenate([singles, pairs, pairs + 1])
    rows = np.ascontiguousarray(bits[printed]).view(f"V{8 * bits.shape[1]}").reshape(-1)
    return np.asarray(printed[np.unique(rows, return_index=True)[1]])


def _hash_functions(height: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint32]]]:
    """Folds and odd factors to try, drawn at random, the fastest first."""
    for count in _FOLDS:
        for seed in range(_FOLD_SEEDS if count < height >= _FOLDED else 0):
            random = np.random.default_rng(seed)
            order = random.permuted(np.tile(np.arange(height, dtype=np.int32), (count, 1)), axis=1)
            folds = np.ascontiguousarray(order[:, :_FOLDED])
            if _tell_lines_apart(folds, height):
                yield folds, _factors(random, count)
    alone = np.full((height, _FOLDED), height, np.int32)
    alone[:, 0] = range(height)
    for seed in range(_SEEDS):
        yield alone, _factors(np.random.default_rng(seed), height)


def _tell_lines_apart(folds: NDArray[np.int32], height: int) -> bool:
    """Whether each scanline is in some of the `folds` (folds, 7), and no two are in the same.

    A pixel that is drawn wrong then changes the hash, and so do two: they cancel out in no fold.
    """
    folds_of = np.zeros(height, np.int64)
    for number, fold in enumerate(folds):
        folds_of[fold] |= 1 << number
    return bool(folds_of.all() and np.unique(folds_of).size == height)


def _factors(random: np.random.Generator, size: int) -> NDArray[np.uint32]:
    return random.integers(1 << 32, size=size, dtype=np.uint32) | np.uint32(1)


def _distinct(values: NDArray[np.uint32]) -> bool:
    return bool(np.unique(values).size == values.size)


def _open_table(hashes: NDArray[np.uint32], glyphs: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Slots of hash and id, by linear probing from the hash's high bits, at most an eighth full."""
    slots = 1 << max(4, int(8 * glyphs.size - 1).bit_length())
    table = np.full(slots, NO_GLYPH, np.uint64)
    for key, glyph in zip(hashes.tolist(), glyphs.tolist(), strict=True):
        slot = key * slots >> 32
        while table[slot] & NO_GLYPH != NO_GLYPH:
            slot = (slot + 1) % slots
        table[slot] = key << 16 | glyph
    return table


def _refuse_two_readings(
    atlas: Atlas, bits: NDArray[np.uint64], singles: NDArray[np.intp], pairs: NDArray[np.intp]
) -> None:
    """Raise UsageError if some row of cells could be read as two different rows of glyphs.

    Sardinas and Patterson's test for codes whose words are one cell or two: what is left over when
    a single glyph is taken off the front of a pair, followed through the pairs that start with it,
    must never be a single glyph.
    """
    if not pairs.size:
        return
    single_bits = {
        row.tobytes(): int(glyph) for row, glyph in zip(bits[singles], singles, strict=True)
    }
    rights: dict[bytes, list[bytes]] = {}
    for glyph in pairs:
        rights.setdefault(bits[glyph].tobytes(), []).append(bits[glyph + 1].tobytes())
    left_over = [r for left, row in rights.items() if left in single_bits for r in row]
    seen: set[bytes] = set()
    while left_over:
        half = left_over.pop()
        if half in single_bits:
            raise UsageError(
                f"font {atlas.name!r}: a wide glyph's half looks like glyph {single_bits[half]} "
                f"(U+{max(0, int(atlas.codes[single_bits[half]])):04X}), so that pages could be "
                "read in two ways; leave that wide glyph out"
            )
        if half not in seen:
            seen.add(half)
            left_over += rights.get(half, [])
