"""A Messages request, streamed and fit to be sent.

Users and assistants take turns and the user begins. System messages at the start become
``system``; later ones the user says, labelled.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from snapcompact.history.blobs import picture
from snapcompact.history.export.replay import Call, Part, Turn, turns
from snapcompact.history.export.wording import marker
from snapcompact.history.model import Blob, Message, Role

Json = dict[str, Any]

MAX_TOKENS = 4096
"""The API requires a limit; the caller may change it."""

_OPENING = "(The conversation before this is not here.)"


def export(messages: Iterable[Message]) -> Iterator[bytes]:
    """The request, a piece a message."""
    said = _Said()
    yield b'{"messages":['
    between = b"\n"
    for message in _alternating(said.without_system(turns(messages))):
        yield between + orjson.dumps(message)
        between = b",\n"
    tail: Json = {"max_tokens": MAX_TOKENS}
    if said.system:
        tail["system"] = said.system
    if said.model:
        tail["model"] = said.model
    yield b"\n]," + orjson.dumps(tail)[1:] + b"\n"


class _Said:
    """What belongs to the whole request."""

    def __init__(self) -> None:
        self.system: list[Json] = []
        self.model = ""

    def without_system(self, found: Iterable[Turn]) -> Iterator[Turn]:
        """The turns, system ones kept here at the start and said by the user later."""
        started = False
        for turn in found:
            self.model = turn.model or self.model
            if turn.role is not Role.SYSTEM:
                started = True
                yield turn
            elif started:
                yield Turn(Role.USER, ["[system]", *turn.parts])
            else:
                words = [marker(part) if isinstance(part, Blob) else part for part in turn.parts]
                self.system += [{"type": "text", "text": text} for text in words]


def _alternating(found: Iterable[Turn]) -> Iterator[Json]:
    """Messages of the turns; results and the user's next words are one message."""
    role, content = "", list[Json]()
    for turn in found:
        for speaker, blocks in _messages(turn):
            if not role and speaker == "assistant":
                yield {"role": "user", "content": [_text(_OPENING)]}
            if role and speaker != role:
                yield {"role": role, "content": content}
                content = []
            role = speaker
            content += blocks
    if role == "assistant" and content[-1]["type"] == "text":
        # the API refuses a last answer that ends in blanks
        content[-1]["text"] = content[-1]["text"].rstrip()
    if role:
        yield {"role": role, "content": content}


def _messages(turn: Turn) -> Iterator[tuple[str, list[Json]]]:
    if turn.role is Role.USER:
        yield "user", list(map(_part, turn.parts))
        return
    words = [_text(marker(part)) if isinstance(part, Blob) else _text(part) for part in turn.parts]
    yield "assistant", [*words, *map(_call, turn.calls)]
    if turn.calls:
        yield "user", list(map(_result, turn.calls))


def _call(call: Call) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}


def _result(call: Call) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": call.id}
    if call.result:
        block["content"] = list(map(_part, call.result))
    if call.is_error:
        block["is_error"] = True
    return block


def _part(part: Part) -> Json:
    if isinstance(part, str):
        return _text(part)
    found = picture(part.data) if part.data is not None else None
    if found is None or part.data is None:
        return _text(marker(part))
    data = base64.b64encode(part.data).decode()
    source = {"type": "base64", "media_type": found.mime, "data": data}
    return {"type": "image", "source": source}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
