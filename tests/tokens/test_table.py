"""Table files: small, exact both ways, refused when damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.errors import DiskError
from snapcompact.tokens import table as tables
from snapcompact.tokens.table import FOLDER, decode_table, encode_table, families, load_table

MOST_BYTES = 450_000
"""A family's table may take this much of the wheel, all together ten times it."""


@pytest.mark.parametrize("family", families())
def test_a_table_is_small_and_states_its_errors(family: str) -> None:
    table = load_table(family)
    assert (FOLDER / f"{family}.tokens").stat().st_size <= MOST_BYTES
    assert table.family == family
    assert "tested" in table.source
    assert 0 < table.errors.p95_4k < table.errors.p95_lines


def test_all_tables_fit_the_wheel() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 10 * MOST_BYTES


def test_a_table_survives_its_file() -> None:
    table = load_table("o200k")
    again = decode_table(encode_table(table))
    assert (again.style, again.errors, again.source) == (table.style, table.errors, table.source)
    for name in ("costs", "rare_costs", "words"):
        assert np.array_equal(getattr(again, name), getattr(table, name))
        assert not getattr(again, name).flags.writeable


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_file_is_refused(data: st.DataObject) -> None:
    whole = (FOLDER / "o200k.tokens").read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises((ValueError, KeyError, TypeError, struct.error)):
        decode_table(whole[:cut])


def test_damage_is_reported_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.tokens").write_bytes(b"SCTK\x01\x05\x00\x00\x00{}")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    with pytest.raises(DiskError, match=r"bad\.tokens: damaged"):
        load_table("bad")
