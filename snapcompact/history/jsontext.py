"""JSON values to bytes and back, for values that fast libraries refuse."""

from __future__ import annotations

import json
from typing import Any

import orjson

from snapcompact.history.model import wtf8


class NotFinite(float):
    """NaN or an infinity met in JSON; a class of its own, because orjson would write null."""


def json_text(value: Any) -> bytes:
    """`value` as compact JSON, keys in their order; text by the rules of ``wtf8``.

    Whole numbers of any size and NotFinite are written as they were read.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):  # surrogates, huge whole numbers, NaN, deep nesting
        pass
    try:
        return wtf8(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return wtf8("".join(_flat(value)))


def _flat(value: Any) -> list[str]:
    """Pieces of compact JSON of `value`, without recursion."""
    out: list[str] = []
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        match item:
            case _Literal():
                out.append(item.text)
            case dict():
                todo.append(_Literal("}"))
                for index, (key, inner) in reversed(list(enumerate(item.items()))):
                    label = json.dumps(key, ensure_ascii=False)
                    todo += [inner, _Literal(f"{',' if index else '{'}{label}:")]
                if not item:
                    out.append("{")
            case list():
                todo.append(_Literal("]"))
                for index, inner in reversed(list(enumerate(item))):
                    todo += [inner, _Literal("," if index else "[")]
                if not item:
                    out.append("[")
            case _:
                out.append(json.dumps(item, ensure_ascii=False))
    return out


class _Literal:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text
