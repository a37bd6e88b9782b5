from __future__ import annotations

import json
from typing import TYPE_CHECKING

from snapcompact.cli.app import run
from snapcompact.history.formats import table

if TYPE_CHECKING:
    import pytest


def test_every_format_is_listed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [row.name for row in table()]
    assert run(["formats", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[-1]["name"] == "text"
    assert all(row["title"] for row in rows)
