"""Pages with their truth, for training and testing readers: Parquet, or WebDataset tar shards.

A record is a page: ``key``, ``png``, ``text`` (the bytes it prints), ``rows`` (as
``truth.page_rows`` has them), ``cells`` (glyph ids, row by row), ``boxes`` (a pixel box a cell of
the text: left, top, right, bottom, in the order of the characters of the joined rows), ``shape``,
``session``, ``page``.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from snapcompact.errors import OutputExistsError, UnknownNameError
from snapcompact.files import atomic_writer, disk_errors
from snapcompact.fonts.atlas import load_atlas
from snapcompact.history.session import open_session
from snapcompact.llm.extras import need
from snapcompact.pages.cells import paginate
from snapcompact.pages.decode import cells_to_text
from snapcompact.pages.pipeline import render_pages
from snapcompact.readback.truth import page_rows
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.pipeline import PagePng
    from snapcompact.pages.shape import Shape

SHARD_RECORDS = 1000
"""Pages a file: 30 to 80 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One page of the data set; see the module's head. ``boxes`` (characters, 4) int32."""

    key: str
    png: bytes
    text: bytes
    rows: tuple[str, ...]
    cells: NDArray[np.uint16]
    boxes: NDArray[np.int32]
    shape: str
    session: str
    page: int


def records(paths: Sequence[Path], shapes: Sequence[Shape]) -> Iterator[Record]:
    """The pages of the sessions at `paths` in each of `shapes`; memory is that of a few pages."""
    for shape in shapes:
        atlas = load_atlas(shape.font)
        for number, path in enumerate(paths, 1):
            with open_session(path) as session:
                text = write_transcript(session.messages())
                for made in render_pages(paginate(text, shape, atlas), shape, atlas):
                    yield _record(made, shape, atlas, path.name, number)


def _record(made: PagePng, shape: Shape, atlas: Atlas, session: str, number: int) -> Record:
    cells = made.page.cells
    rows, places = page_rows(cells, shape, atlas)
    return Record(
        # Keys of a WebDataset end at the first dot.
        key=f"{number:04}-{shape.name.replace('.', '_')}-{made.page.number:06}",
        png=made.png,
        text=cells_to_text(cells, shape, atlas),
        rows=rows,
        cells=cells,
        boxes=cell_boxes(places, cells, shape, atlas),
        shape=shape.name,
        session=session,
        page=made.page.number,
    )


def cell_boxes(
    places: NDArray[np.intp], cells: NDArray[np.uint16], shape: Shape, atlas: Atlas
) -> NDArray[np.int32]:
    """(places, 4) int32: left, top, right, bottom in px of each cell; a wide glyph's is both."""
    row, column = np.divmod(places, shape.grid_columns)
    wide = atlas.wide[np.minimum(cells[row, column], atlas.wide.size - 1)]
    left, top = column * shape.pitch_width, row * shape.pitch_height
    right = left + shape.pitch_width * (1 + wide)
    return np.stack([left, top, right, top + shape.pitch_height], axis=1).astype(np.int32)


def write_dataset(found: Iterable[Record], form: str, folder: Path) -> list[Path]:
    """The files of the data set in `folder`, which is made; each is written whole or not at all.

    Raises UnknownNameError for another form, OutputExistsError, MissingExtraError for parquet
    without pyarrow.
    """
    if form not in FORMS:
        raise UnknownNameError(f"unknown form {form!r}; known are {', '.join(FORMS)}")
    if form == "parquet":
        need("pyarrow", "dataset")
    if folder.exists():
        raise OutputExistsError(f"{folder} already exists; give another name")
    with disk_errors("make", folder):
        folder.mkdir(parents=True)
    written: list[Path] = []
    source = iter(found)
    while shard := list(islice(source, SHARD_RECORDS)):
        path = folder / f"pages-{len(written):05}.{_ENDINGS[form]}"
        FORMS[form](shard, path)
        written.append(path)
    return written


def _write_parquet(shard: Sequence[Record], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("key", pa.string()),
            ("png", pa.binary()),
            ("text", pa.binary()),
            ("rows", pa.list_(pa.string())),
            ("cells", pa.list_(pa.uint16())),
            ("grid_rows", pa.int32()),
            ("grid_columns", pa.int32()),
            ("boxes", pa.list_(pa.int32())),
            ("shape", pa.string()),
            ("session", pa.string()),
            ("page", pa.int64()),
        ]
    )
    rows = [_parquet_row(record) for record in shard]
    with atomic_writer(path) as file:
        pq.write_table(pa.Table.from_pylist(rows, schema), file, compression="zstd")


def _parquet_row(record: Record) -> dict[str, Any]:
    height, width = record.cells.shape
    return {
        "key": record.key,
        "png": record.png,
        "text": record.text,
        "rows": list(record.rows),
        "cells": record.cells.reshape(-1),
        "grid_rows": height,
        "grid_columns": width,
        "boxes": record.boxes.reshape(-1),
        "shape": record.shape,
        "session": record.session,
        "page": record.page,
    }


def _write_tar(shard: Sequence[Record], path: Path) -> None:
    with atomic_writer(path) as file, tarfile.open(fileobj=file, mode="w") as tar:
        for record in shard:
            for ending, data in _tar_parts(record):
                entry = tarfile.TarInfo(f"{record.key}.{ending}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))


def _tar_parts(record: Record) -> Iterator[tuple[str, bytes]]:
    height, width = record.cells.shape
    about = {
        "rows": record.rows,
        "cells": record.cells.tolist(),
        "grid_rows": height,
        "grid_columns": width,
        "boxes": record.boxes.tolist(),
        "shape": record.shape,
        "session": record.session,
        "page": record.page,
    }
    yield "png", record.png
    yield "txt", record.text
    yield "json", orjson.dumps(about)


FORMS: Mapping[str, Callable[[Sequence[Record], Path], None]] = MappingProxyType(
    {"parquet": _write_parquet, "webdataset": _write_tar}
)
"""Writers of one file, by the name on the command line."""
_ENDINGS = {"parquet": "parquet", "webdataset": "tar"}
