"""Sessions made up by hypothesis: turns, calls, results, marks, odd ids, orphans, late results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from snapcompact.compaction.entries import (
    BRANCH_SUMMARY,
    CUSTOM,
    Entry,
    Kind,
    Mark,
    summary_message,
)
from snapcompact.history.model import Message, Role, Text, ToolCall, ToolResult


def text(words: str, size: int = 4) -> Text:
    return Text((words + " ").encode() * max(1, size // (len(words) + 1)))


def user(words: str, size: int = 4) -> Message:
    return Message(Role.USER, (text(words, size),))


def answer(words: str, *calls: ToolCall, size: int = 4) -> Message:
    return Message(Role.ASSISTANT, (text(words, size), *calls))


def call(call_id: str, name: str = "read", args: bytes = b'{"path":"a.py"}') -> ToolCall:
    return ToolCall(call_id, name, args)


def result(call_id: str, words: str = "ok", size: int = 4, *, error: bool = False) -> Message:
    return Message(Role.TOOL, (ToolResult(call_id, (text(words, size),), error),))


def entries_of(messages: Sequence[Message], first: int = 0) -> tuple[Entry, ...]:
    """Entries e0, e1, …, each the child of the one before."""
    return tuple(
        Entry(
            f"e{first + n}",
            Kind.MESSAGE,
            message,
            parent=f"e{first + n - 1}" if first + n else None,
            time_ms=1000 * (first + n),
        )
        for n, message in enumerate(messages)
    )


_SIZES = st.sampled_from([4, 40, 400, 4000])
_IDS = st.sampled_from(["a", "b", "c", ""])
_KINDS = st.sampled_from(
    ["user", "answer", "calls", "results", "orphan", "custom", "branch", "meta", "late", "note"]
)


@st.composite
def _step(draw: st.DrawFn) -> tuple[str, list[str], int]:
    ids = draw(st.lists(_IDS, min_size=1, max_size=3))
    return draw(_KINDS), ids, draw(_SIZES)


def _paired(kind: str, ids: list[str], size: int, words: str) -> list[Message]:
    """A call, with its results at once, after a user's words, or never."""
    calls = answer(words, *(call(one) for one in ids))
    results = [result(one, f"{words}.{i}", size) for i, one in enumerate(ids)]
    return {
        "calls": [calls],
        "results": [calls, *results],
        "late": [calls, user(f"{words}.u"), *results],
        "orphan": results[:1],
    }[kind]


def _messages(kind: str, ids: list[str], size: int, number: int) -> list[tuple[Kind, Message]]:
    words = f"w{number}"
    if kind in ("calls", "results", "late", "orphan"):
        return [(Kind.MESSAGE, message) for message in _paired(kind, ids, size, words)]
    made = {
        "user": (Kind.MESSAGE, user(words, size)),
        "answer": (Kind.MESSAGE, answer(words, size=size)),
        "custom": (Kind.CUSTOM, Message(Role.USER, (text(words, size),), CUSTOM)),
        "branch": (Kind.BRANCH, summary_message(words, label=BRANCH_SUMMARY)),
        "note": (Kind.META, Message(Role.NOTE, (text(words, size),), "observer")),
    }
    return [made[kind]]


@st.composite
def stretches(draw: st.DrawFn, max_steps: int = 10) -> list[tuple[Kind, Message | None]]:
    """Kinds and messages of a stretch of a session; marks without a message among them."""
    made: list[tuple[Kind, Message | None]] = []
    for number, (kind, ids, size) in enumerate(draw(st.lists(_step(), max_size=max_steps))):
        if kind == "meta":
            made.append((Kind.META, None))
        else:
            made += _messages(kind, ids, size, number)
    return made


def appended(
    entries: Sequence[Entry], stretch: Sequence[tuple[Kind, Message | None]]
) -> tuple[Entry, ...]:
    """`entries` and `stretch` after them, each message made unlike every other."""
    made = list(entries)
    for kind, said in stretch:
        number = len(made)
        own = Text(f"#{number}".encode())
        message = replace(said, blocks=(*said.blocks, own)) if said is not None else None
        mark = Mark(f"B{number}") if kind is Kind.BRANCH else None
        parent = made[-1].id if made else None
        made.append(Entry(f"e{number}", kind, message, parent, mark, time_ms=1000 * number))
    return tuple(made)
