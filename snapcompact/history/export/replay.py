"""Messages as turns a provider accepts: every call has its result, every result its call. Pure.

A result is looked for up to WINDOW messages after its call, but not past the user's next words.
Calls without a result, and results without a call, become words, so that nothing is lost; thinking
is left out, because providers take back only what they signed themselves.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from snapcompact.history.export.wording import call_words, marker, valid
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Role,
    Text,
    ToolCall,
    ToolResult,
    shown,
)

WINDOW = 256

Part = str | Blob

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class Call:
    """A call with an id that no other call has, and what it gave back."""

    id: str
    name: str
    args: dict[str, Any]
    result: tuple[Part, ...] = ()
    is_error: bool = False


@dataclass(slots=True)
class Turn:
    """What one side says. Calls are made after the words, and their results follow at once."""

    role: Role
    parts: list[Part]
    calls: list[Call] = field(default_factory=list)
    model: str = ""


def turns(messages: Iterable[Message]) -> Iterator[Turn]:
    """The turns of `messages`: role SYSTEM, USER or ASSISTANT, never two of one role in a row."""
    last: Turn | None = None
    for turn in _turns(messages):
        if last is not None and last.role is turn.role and not last.calls:
            last.parts += turn.parts
            last.calls += turn.calls
            last.model = turn.model or last.model
            continue
        if last is not None:
            yield last
        last = turn
    if last is not None:
        yield last


def _turns(messages: Iterable[Message]) -> Iterator[Turn]:
    source, window, ids = iter(messages), deque[Message](), _Ids()
    while True:
        while len(window) < WINDOW and (message := next(source, None)) is not None:
            window.append(message)
        if not window:
            return
        head = window.popleft()
        if head.role is Role.ASSISTANT:
            run = [head]
            while window and window[0].role is Role.ASSISTANT:
                run.append(window.popleft())
            turn = _answer(run, window, ids)
        else:
            turn = Turn(Role.SYSTEM if head.role is Role.SYSTEM else Role.USER, _words(head))
        if turn.parts or turn.calls:
            yield turn


def _words(message: Message) -> list[Part]:
    """All that a message says, in words and pictures; who says it, where a user's role does not."""
    parts = [part for block in message.blocks for part in _parts(block)]
    if message.role is Role.NOTE:
        return [f"[{valid(message.label) or 'note'}]", *parts]
    if message.role is Role.TOOL:
        ids = [b.call_id for b in message.blocks if isinstance(b, ToolResult)]
        return [f"[result of a tool call that is not here: {valid(''.join(ids))}]", *parts]
    return parts


def _parts(block: Block) -> list[Part]:
    match block:
        case Text():
            text = shown(block.data)
            return [text] if text.strip() else []
        case Blob():
            return [block if block.kind == "image" and block.data is not None else marker(block)]
        case Other():
            return [f"[{valid(block.kind)}] {shown(block.data)}"]
        case ToolCall():
            return [f"[tool call without a result: {call_words(block)}]"]
        case ToolResult():
            return [part for inner in block.content for part in _parts(inner)]
        case _:
            return []


def _answer(run: list[Message], window: deque[Message], ids: _Ids) -> Turn:
    """One turn of consecutive assistant messages, its results taken out of `window`."""
    made = [block for message in run for block in message.blocks if isinstance(block, ToolCall)]
    answers = _take_results(made, window)
    turn = Turn(
        Role.ASSISTANT, [], model=next((valid(m.meta.model) for m in run if m.meta.model), "")
    )
    at = 0
    for message in run:
        for block in message.blocks:
            if not isinstance(block, ToolCall):
                turn.parts += _parts(block)
                continue
            result = answers.get(at)
            at += 1
            if result is None:
                turn.parts += _parts(block)
                continue
            call = Call(ids.unique(block.id), _name(block.name), _args(block.args))
            call.result, call.is_error = tuple(_parts(result)), result.is_error
            turn.calls.append(call)
    return turn


def _take_results(made: list[ToolCall], window: deque[Message]) -> dict[int, ToolResult]:
    """Results of the calls `made`, by their index, taken out of `window`.

    Of calls with one id the oldest open one is answered; a result without an id answers the
    oldest open call. Once a later call uses an id again, its results are not taken.
    """
    open_calls = dict(enumerate(call.id for call in made))
    found: dict[int, ToolResult] = {}
    reused: set[str] = set()
    taken: list[int] = []
    for place, message in enumerate(window):
        if not open_calls or message.role is Role.USER:
            break
        for block in message.blocks:
            if isinstance(block, ToolCall):
                reused.add(block.id)
            elif isinstance(block, ToolResult) and block.call_id not in reused:
                index = next((i for i, name in open_calls.items() if _fits(name, block)), None)
                if index is not None:
                    found[index] = block
                    del open_calls[index]
                    taken.append(place)
    for place in reversed(taken):
        del window[place]
    return found


def _fits(name: str, result: ToolResult) -> bool:
    return name == result.call_id or not name or not result.call_id


class _Ids:
    """Ids that providers accept, each once: the session's own where it is fit."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._made = 0

    def unique(self, wanted: str) -> str:
        name = wanted
        while not _ID.fullmatch(name) or name in self._used:
            self._made += 1
            name = f"call_{self._made}"
        self._used.add(name)
        return name


def _name(name: str) -> str:
    return _NO_NAME.sub("_", name)[:64] or "tool"


def _args(args: bytes) -> dict[str, Any]:
    """Arguments as the object that providers ask for; text that is none stands under ``input``."""
    try:
        value = orjson.loads(args) if args.strip() else {}
    except orjson.JSONDecodeError:
        value = shown(args)
    return value if isinstance(value, dict) else {"input": value}
