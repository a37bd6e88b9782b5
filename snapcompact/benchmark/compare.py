"""Two results of the benchmark side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.benchmark.run import SCHEMA
from snapcompact.errors import InputError, VersionError
from snapcompact.files import read_bounded

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
MOST_BYTES = 256 << 20
RATES = ("cer", "wer", "exact_recall", "exact_invented", "rows_perfect")
PLAIN = ("seconds_per_page",)
OF_SHAPE = ("characters_per_page", "png_bytes_per_character", "print_mb_per_second")


def load_result(path: Path) -> Json:
    """The JSON that ``bench`` wrote. Raises InputError, VersionError for a newer schema."""
    try:
        data = orjson.loads(read_bounded(path, MOST_BYTES))
        schema = data["schema"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a result of `snapcompact bench`") from error
    if not isinstance(schema, int) or schema > SCHEMA:
        raise VersionError(f"{path}: schema {schema}; this program reads up to {SCHEMA}")
    return dict(data)


def compare(old: Json, new: Json) -> list[Json]:
    """What both measured: shape, reader, figure, old, new, and whether it changed.

    A rate has changed where the intervals do not meet; of other figures, which have none, nothing
    is said (None). Raises InputError where the files have no shape in common or lack figures.
    """
    try:
        rows = [*_shapes(old, new), *_readings(old, new)]
    except (KeyError, TypeError) as error:
        raise InputError(f"a result lacks figures: {error}") from error
    if not rows:
        raise InputError("the two results have no shape in common")
    return rows


def _shapes(old: Json, new: Json) -> list[Json]:
    before = {shape["shape"]: shape for shape in old["shapes"]}
    return [
        _row(shape["shape"], "", figure, before[shape["shape"]][figure], shape[figure], None)
        for shape in new["shapes"]
        if shape["shape"] in before
        for figure in OF_SHAPE
    ]


def _readings(old: Json, new: Json) -> list[Json]:
    before = {(r["shape"], r["reader"]): r for r in old["readings"]}
    rows = []
    for r in new["readings"]:
        was = before.get((r["shape"], r["reader"]))
        if was is None:
            continue
        for rate in RATES:
            a, b = was[rate], r[rate]
            apart = a["high"] < b["low"] or b["high"] < a["low"]
            rows.append(_row(r["shape"], r["reader"], rate, a["value"], b["value"], apart))
        rows += [_row(r["shape"], r["reader"], name, was[name], r[name], None) for name in PLAIN]
    return rows


def _row(shape: str, reader: str, figure: str, a: float, b: float, changed: bool | None) -> Json:
    return {
        "shape": shape,
        "reader": reader,
        "figure": figure,
        "old": a,
        "new": b,
        "changed": changed,
    }
