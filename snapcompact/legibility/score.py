"""The legibility score of a shape: what a model can be expected to misread of a text's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import Special
from snapcompact.legibility import downscale
from snapcompact.legibility.odds import Odds, no_odds, odds
from snapcompact.legibility.templates import axis, templates, windows
from snapcompact.pages.cells import paginate
from snapcompact.pages.ink import PALETTES, cell_inks
from snapcompact.pages.layout import grid_to_flow
from snapcompact.pages.render import raster
from snapcompact.readback.score import Interval, interval
from snapcompact.readback.templates import glyph_templates
from snapcompact.readback.truth import cell_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.legibility.eye import Eye
    from snapcompact.pages.cells import PageCells
    from snapcompact.pages.shape import Shape

TOP_MISREADINGS = 12
PROBE_COPIES = 24
"""Of each ASCII character, in random order, read beside the sample so that each has a rate."""
_BLANK = 32
_UNREAD = np.array([Special.END, Special.PAD])


RARE = 0.002
"""How often a glyph beyond ASCII is printed, as a share of one of ASCII: 1 % of the corpus's
characters are such, of 1,200 different ones."""


@dataclass(frozen=True, slots=True)
class Sight:
    """How a full page is seen.

    ``seen`` is its width and height when it arrives, ``how`` the filter of ``downscale.FILTERS``
    that brought it there, ``jpeg`` a quality or 0 for none.
    """

    seen: tuple[int, int]
    eye: Eye
    how: str = "lanczos"
    jpeg: int = 0


@dataclass(frozen=True, slots=True)
class Misreading:
    """``truth`` taken for ``read``: ``rate`` of its cells, which are ``share`` of all errors."""

    truth: str
    read: str
    rate: float
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """What is expected of one shape.

    ``cer`` is errors over characters, runs of blanks counted once, with the 95 % interval over the
    sample's blocks; nothing is guessed from context, as a language model would. ``ascii_rates``
    (128,) is how often each ASCII character is misread, 1 where it is printed as an escape.
    """

    shape: str
    seen: tuple[int, int]
    characters: int
    cer: Interval
    misreadings: tuple[Misreading, ...]
    ascii_rates: NDArray[np.float64]


def score(sample: Sequence[bytes], shape: Shape, atlas: Atlas, sight: Sight) -> Score:
    """The score of a text of which `sample` holds blocks, printed as `shape` with `atlas`.

    Deterministic. Raises UsageError where glyphs and shape do not fit.
    """
    blocks = [list(paginate([block], shape, atlas)) for block in (*sample, _probe())]
    printed = _printed(blocks, shape)
    ids = _candidates(printed.ids, atlas)
    truth = np.searchsorted(ids, printed.ids)
    found = _read(blocks, printed, truth, (shape, atlas, sight, ids))
    of_sample = printed.block < len(sample)
    errors = np.bincount(printed.block, found.rates, len(blocks))[:-1]
    totals = np.bincount(printed.block, minlength=len(blocks))[:-1]
    return Score(
        shape=shape.name,
        seen=sight.seen,
        characters=int(totals.sum()),
        cer=interval(list(zip(errors.tolist(), totals.tolist(), strict=True))),
        misreadings=_misreadings(truth[of_sample], found.of(of_sample), ids, atlas),
        ascii_rates=_ascii_rates(truth, found.rates, ids, atlas),
    )


def misread_chances(
    words: Sequence[bytes], ascii_rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(words,) the chance that each of `words`, none of them empty, is not read exactly.

    Bytes beyond ASCII count as the worst of ASCII that is printed.
    """
    if not words:
        return np.empty(0)
    right = np.log1p(-np.minimum(ascii_rates, 1 - 1e-9))
    by_byte = np.concatenate([right, np.full(128, right[33:127].min())])
    starts = np.cumsum([0, *map(len, words[:-1])])
    logs = np.add.reduceat(by_byte[np.frombuffer(b"".join(words), np.uint8)], starts)
    return np.asarray(-np.expm1(logs))


@dataclass(frozen=True, slots=True, eq=False)
class _Printed:
    """The cells that count, each an entry of flat arrays.

    Glyph id, block and page it stands in, row and column, and how dark its ink is (1 for black).
    """

    ids: NDArray[np.uint16]
    block: NDArray[np.intp]
    page: NDArray[np.intp]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    contrast: NDArray[np.float32]


def _printed(blocks: Sequence[Sequence[PageCells]], shape: Shape) -> _Printed:
    """The cells of the text of all pages; of each run of blanks the first."""
    parts: list[tuple[NDArray[np.uint16], NDArray[np.intp], NDArray[np.float32]]] = []
    for block, pages in enumerate(blocks):
        for page in pages:
            place = _text_places(page, shape)
            where = np.empty((4, place.size), np.intp)
            where[:2] = [[block], [len(parts)]]
            where[2:] = np.divmod(place, page.cells.shape[1])
            dark = _contrast(page.cells, shape).reshape(-1)[place]
            parts.append((page.cells.reshape(-1)[place], where, dark))
    ids, where, dark = (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts], axis=1),
        np.concatenate([part[2] for part in parts]),
    )
    return _Printed(ids, where[0], where[1], where[2], where[3], dark)


def _text_places(page: PageCells, shape: Shape) -> NDArray[np.intp]:
    """Row times grid columns plus column of each cell that counts."""
    number = np.arange(page.cells.size, dtype=np.uint16).reshape(page.cells.shape)
    if page.cells.size > 1 << 16:
        number = number.astype(np.intp)
    flow = grid_to_flow(number, shape)[: page.printed].astype(np.intp)
    cells = page.cells.reshape(-1)[flow]
    blank = cells == _BLANK
    paper = blank | (cells == Special.PAD)  # behind a line end in a row of its own
    repeated = blank & np.concatenate([[False], paper[:-1]])
    return np.asarray(flow[~repeated & ~np.isin(cells, _UNREAD)])


def _read(
    blocks: Sequence[Sequence[PageCells]],
    printed: _Printed,
    truth: NDArray[np.intp],
    how: tuple[Shape, Atlas, Sight, NDArray[np.uint16]],
) -> Odds:
    """The odds of all cells that are `printed`, phase by phase."""
    shape, atlas, sight, ids = how
    full_height = shape.grid_rows * shape.pitch_height
    scales = (
        downscale.scale_matrix(full_height, sight.seen[1], sight.how),
        downscale.scale_matrix(shape.page_width, sight.seen[0], sight.how),
    )
    blur_px = sight.eye.blur_px
    down = axis(scales[0], blur_px, shape.pitch_height, shape.grid_rows)
    across = axis(scales[1], blur_px, shape.pitch_width, shape.grid_columns)
    pages = [_seen(page, scales, shape, atlas, sight) for block in blocks for page in block]
    height = int(down.starts[printed.row.max()]) + down.window
    width = max(pages[0].shape[1], int(across.starts[-1]) + across.window)
    seen = np.zeros((len(pages), height, width), np.float32)
    for number, page in enumerate(pages):
        seen[number, : page.shape[0], : page.shape[1]] = page[:height]
    known = glyph_templates(shape, atlas)
    glyphs = known.ink[np.searchsorted(known.ids, ids)].astype(np.float32)
    prior = _prior(truth, ids)
    noise = np.asarray(sight.eye.noise / printed.contrast, np.float32)
    phases = down.phases[printed.row] * 64 + across.phases[printed.column]
    out = no_odds(truth.size, ids.size)
    for phase in np.unique(phases):
        some = np.flatnonzero(phases == phase)
        y, x = down.phases[printed.row[some[0]]], across.phases[printed.column[some[0]]]
        lenses = down.lens(down.middle(y)), across.lens(across.middle(x))
        places = printed.page[some], printed.row[some], printed.column[some]
        out.put(
            some,
            odds(
                windows(seen, down, across, places),
                truth[some],
                templates(glyphs, *lenses),
                prior,
                noise[some],
            ),
        )
    return out


def _seen(
    page: PageCells,
    scales: tuple[NDArray[np.float32], NDArray[np.float32]],
    shape: Shape,
    atlas: Atlas,
    sight: Sight,
) -> NDArray[np.float32]:
    """The page as it arrives, behind the eye's blur."""
    scanlines = raster(page.cells, shape, atlas)
    ink = np.unpackbits(scanlines[:, 1:], axis=1, count=shape.page_width).astype(np.float32)
    down, across = scales
    height = -(-ink.shape[0] * down.shape[0] // down.shape[1])
    arrived = downscale.scaled(ink, down[:height, : ink.shape[0]], across)
    if sight.jpeg:
        arrived = downscale.jpeg(arrived, sight.jpeg)
    return downscale.blurred(arrived, sight.eye.blur_px)


def _probe() -> bytes:
    letters = np.tile(np.arange(33, 127, dtype=np.uint8), PROBE_COPIES)
    return np.random.default_rng(0).permutation(letters).tobytes()


def _candidates(printed: NDArray[np.uint16], atlas: Atlas) -> NDArray[np.uint16]:
    """Glyphs that a reader would think of, in order: ASCII and what the pages print."""
    ids = {9, 10, *range(32, 127), *np.unique(printed).tolist()}
    return np.array(sorted(ids), np.uint16)


def _prior(truth: NDArray[np.intp], ids: NDArray[np.uint16]) -> NDArray[np.float32]:
    """(glyphs,) how often a reader expects each, a share of one of ASCII.

    ASCII is expected all alike, so that identifiers are judged as they are read; others as often
    as the pages print them, and never less than RARE.
    """
    printed = np.bincount(truth, minlength=ids.size)
    plain = ids < 127
    share = printed / max(float(printed[plain].mean()), 1)
    return np.where(plain, 1, np.clip(share, RARE, 1)).astype(np.float32)


def _contrast(cells: NDArray[np.uint16], shape: Shape) -> NDArray[np.float32]:
    """(rows, grid columns) how dark each cell's ink is, 1 for black."""
    weights = np.array([0.299, 0.587, 0.114])  # grey, as ITU-R BT.601 has it
    levels = 1 - np.array(PALETTES[shape.ink]) @ weights / 255
    return np.asarray(levels[cell_inks(cells, shape)], np.float32)


def _misreadings(
    truth: NDArray[np.intp], found: Odds, ids: NDArray[np.uint16], atlas: Atlas
) -> tuple[Misreading, ...]:
    """The pairs that make most errors; a cell's rate is divided among its rivals."""
    total = found.chances.sum(axis=1, keepdims=True)
    divided = found.chances * (found.rates[:, None] / np.maximum(total, 1e-300))
    pairs = truth[:, None] * ids.size + found.rivals
    errors = np.bincount(pairs.reshape(-1), divided.reshape(-1), ids.size**2)
    printed = np.bincount(truth, minlength=ids.size)
    names = [
        character or _name(cell)
        for character, cell in zip(cell_characters(ids, atlas), ids.tolist(), strict=True)
    ]
    top = np.argsort(-errors, kind="stable")[:TOP_MISREADINGS]
    return tuple(
        Misreading(
            truth=names[pair // ids.size],
            read=names[pair % ids.size],
            rate=float(errors[pair] / printed[pair // ids.size]),
            share=float(errors[pair] / errors.sum()),
        )
        for pair in top.tolist()
        if errors[pair] > 0
    )


def _name(cell: int) -> str:
    """What a cell that shows no character is called in a report."""
    return f"<{Special(cell).name.lower()}>" if cell in set(Special) else "<right half>"


def _ascii_rates(
    truth: NDArray[np.intp],
    chances: NDArray[np.float64],
    ids: NDArray[np.uint16],
    atlas: Atlas,
) -> NDArray[np.float64]:
    errors = np.bincount(truth, chances, ids.size)
    printed = np.bincount(truth, minlength=ids.size)
    rates = np.ones(128)
    plain = (printed > 0) & (ids < 128) & (atlas.codes[ids] == ids)
    rates[ids[plain]] = errors[plain] / printed[plain]
    return rates
