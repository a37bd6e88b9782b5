"""Data sets: what is written is what the pages print, in both forms."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from snapcompact.cli.app import run
from snapcompact.history.session import open_session
from snapcompact.transcript.write import write_transcript
from tests.corpus import CASES

SHAPE = "8x16@8x16-512x320"
SESSION = CASES / "27_unicode_mix.jsonl"


def written(folder: Path, form: str) -> list[dict[str, Any]]:
    """The records of a data set, read with other people's programs."""
    if form == "parquet":
        pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra `dataset`")
        rows = [row for path in sorted(folder.iterdir()) for row in pq.read_table(path).to_pylist()]
        for row in rows:
            row["boxes"] = np.array(row["boxes"]).reshape(-1, 4).tolist()
            row["cells"] = np.array(row["cells"]).reshape(row["grid_rows"], -1).tolist()
        return list(rows)
    records: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.iterdir()):
        with tarfile.open(path) as tar:
            for entry in tar:
                key, _, ending = entry.name.partition(".")
                file = tar.extractfile(entry)
                assert file is not None
                records.setdefault(key, {})[ending] = file.read()
    return [
        {**json.loads(parts["json"]), "png": parts["png"], "text": parts["txt"]}
        for parts in records.values()
    ]


@pytest.mark.parametrize("form", ["parquet", "webdataset"])
def test_pages_text_cells_and_boxes(form: str, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra `dataset`")
    out = tmp_path / "d"
    command = ["dataset", str(SESSION), "--to", form, "--shapes", SHAPE, "-o", str(out), "-q"]
    assert run(command) == 0
    found = written(out, form)
    text = b"".join(write_transcript(open_session(SESSION).messages()))
    assert b"".join(record["text"] for record in found) == text
    for record in found:
        image = Image.open(io.BytesIO(record["png"]))
        assert image.size == (512, 16 * len(record["cells"]))
        characters = "".join(record["rows"])
        assert len(record["boxes"]) == len(characters)
        ink = np.asarray(image.convert("L")) < 128
        for character, (left, top, right, bottom) in zip(characters, record["boxes"], strict=True):
            assert ink[top:bottom, left:right].any() == (character != " ")
        assert record["shape"] == SHAPE
    assert run(command) == 2


def test_another_form_is_refused(tmp_path: Path) -> None:
    assert run(["dataset", str(SESSION), "--to", "csv", "-o", str(tmp_path / "d"), "-q"]) == 2
    assert not (tmp_path / "d").exists()
