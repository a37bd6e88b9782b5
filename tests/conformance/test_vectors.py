"""Every recorded behaviour of the four seed systems, from one engine under that system's policy.

``SNAPCOMPACT_VECTORS`` names another folder of vectors in the same notation. A vector whose note
calls it a quirk, a trap or data loss is skipped with that note; CONFLICTS of the seeds says what is
done instead, and tests/compaction holds us to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import (
    adapt_kit,
    adapt_oh_my_pi,
    adapt_overflow,
    adapt_pi,
    adapt_pi_old,
    adapt_plugsuits,
)

FOLDER = Path(os.environ.get("SNAPCOMPACT_VECTORS") or Path(__file__).parent / "vectors")
ADAPTERS: Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "kit": adapt_kit.FUNCTIONS,
    "pi-mono": adapt_pi.FUNCTIONS,
    "pi-mono-old": adapt_pi_old.FUNCTIONS,
    "plugsuits": adapt_plugsuits.FUNCTIONS,
    "oh-my-pi": adapt_oh_my_pi.FUNCTIONS,
}
_QUIRKS = ("QUIRK", "a trap", "DATA LOSS")


def _underspecified(vector: Mapping[str, Any]) -> str:
    """Why the input of `vector` cannot give what is expected; empty where it can."""
    if vector["function"] != "analyze_context_tokens":
        return ""
    parts = [part for m in vector["input"]["messages"] for part in m.get("parts", ())]
    bare = [part for part in parts if set(part) == {"result", "id"}]
    spent = any(tool["tokens"] for tool in vector["expected"]["tool_results"].values())
    return "the tool outputs it speaks of are not in its input" if bare and spent else ""


def _left_out(vector: Mapping[str, Any]) -> frozenset[str]:
    """Keys of an expectation that its input cannot give; all others are compared."""
    if vector["function"] != "analyze_context_tokens":
        return frozenset()
    given = json.dumps(vector["input"])
    # Of texts that hold a path only the lengths may be there.
    unnamed = any(path not in given for path in vector["expected"]["duplicate_reads"])
    return frozenset({"duplicate_reads"}) if unnamed else frozenset()


def _vectors() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("*.json")):
        found += json.loads(path.read_text(encoding="utf-8"))["vectors"]
    return found


def _is_quirk(vector: Mapping[str, Any]) -> bool:
    return any(mark in (vector.get("note") or "") for mark in _QUIRKS)


def _adapter(vector: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any] | None:
    overflow = adapt_overflow.FUNCTIONS.get((vector["system"], vector["function"]))
    return overflow or ADAPTERS.get(vector["system"], {}).get(vector["function"])


def _param(vector: dict[str, Any]) -> Any:
    marks: list[pytest.MarkDecorator] = []
    if _is_quirk(vector):
        marks = [pytest.mark.skip(reason=f"not copied: {vector['note']}")]
    elif reason := _underspecified(vector):
        marks = [pytest.mark.skip(reason=reason)]
    return pytest.param(vector, id=vector["id"], marks=marks)


def _same(expected: Any, found: Any, where: str) -> None:
    """`found` equals `expected`; a mapping may hold more keys than are asked for."""
    if isinstance(expected, dict) and isinstance(found, Mapping):
        for key, value in expected.items():
            assert key in found, f"{where}: no {key!r} in {dict(found)!r}"
            _same(value, found[key], f"{where}.{key}")
        return
    if isinstance(expected, list):
        assert isinstance(found, list | tuple), f"{where}: {found!r}"
        assert len(expected) == len(found), f"{where}: expected {expected!r}, found {found!r}"
        for index, value in enumerate(expected):
            _same(value, found[index], f"{where}[{index}]")
        return
    assert found == expected, f"{where}: expected {expected!r}, found {found!r}"


@pytest.mark.parametrize("vector", [_param(vector) for vector in _vectors()])
def test_vector(vector: dict[str, Any]) -> None:
    adapter = _adapter(vector)
    assert adapter is not None, f"no adapter for {vector['system']} {vector['function']}"
    expected = vector["expected"]
    left_out = _left_out(vector)
    if left_out:
        expected = {key: value for key, value in expected.items() if key not in left_out}
    _same(expected, adapter(vector["input"]), vector["id"])
