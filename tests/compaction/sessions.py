"""Small sessions in every format that is written back, made from the same turns."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """A user's words, maybe a tool call with its result, an answer."""

    user: str
    answer: str
    result: str | None = None


def lines(records: Sequence[Json]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


TIME = "2026-01-02T03:04:05.000Z"


def _said(turns: Sequence[Turn]) -> list[tuple[str, str, str]]:
    """(kind, call id, text) of every message in order."""
    said = []
    for number, turn in enumerate(turns):
        said.append(("user", "", turn.user))
        if turn.result is not None:
            said += [("call", f"call{number}", "looking"), ("result", f"call{number}", turn.result)]
        said.append(("answer", "", turn.answer))
    return said


def pi(turns: Sequence[Turn], *, title: bool = False, version: int = 3) -> bytes:
    records: list[Json] = []
    if title:
        records.append({"type": "title", "v": 1, "title": "t", "updatedAt": TIME, "pad": " " * 9})
    head: Json = {"type": "session", "version": version, "id": "s1", "timestamp": TIME, "cwd": "/w"}
    if version == 1:
        head.pop("version")
    records.append(head)
    parent = None
    for number, (kind, call, text) in enumerate(_said(turns)):
        content: list[Json] = [{"type": "text", "text": text}]
        message: Json = {"role": "user", "content": text, "timestamp": number}
        if kind == "call":
            content.append(
                {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a"}}
            )
        if kind in ("call", "answer"):
            message = {"role": "assistant", "content": content, "provider": "openai",
                       "model": "gpt-5", "stopReason": "stop", "timestamp": number}  # fmt: skip
        if kind == "result":
            message = {"role": "toolResult", "toolCallId": call, "toolName": "read",
                       "content": content, "isError": False, "timestamp": number}  # fmt: skip
        record: Json = {"type": "message", "timestamp": TIME, "message": message}
        if version > 1:
            record |= {"id": f"{number:08x}", "parentId": parent}
            parent = record["id"]
        records.append(record)
    return lines(records)


def kit(turns: Sequence[Turn]) -> bytes:
    records: list[Json] = [{"type": "session", "version": 3, "id": "0" * 32, "timestamp": TIME}]
    parent = ""
    for number, (kind, call, text) in enumerate(_said(turns)):
        parts: list[Json] = [{"type": "text", "data": {"text": text}}]
        role = {"user": "user", "result": "tool"}.get(kind, "assistant")
        if kind == "call":
            parts.append({"type": "tool_call", "data": {"id": call, "name": "read",
                                                        "input": '{"path":"a"}'}})  # fmt: skip
        if kind == "result":
            data = {"tool_call_id": call, "name": "read", "content": text, "is_error": False}
            parts = [{"type": "tool_result", "data": data}]
        record: Json = {"type": "message", "id": f"{number:016x}", "timestamp": TIME,
                        "role": role, "parts": parts}  # fmt: skip
        if parent:
            record["parent_id"] = parent
        parent = record["id"]
        records.append(record)
    return lines(records)


def claude(turns: Sequence[Turn]) -> bytes:
    records: list[Json] = []
    parent = None
    for number, (kind, call, text) in enumerate(_said(turns)):
        uuid = f"00000000-0000-4000-8000-{number:012x}"
        content: Any = [{"type": "text", "text": text}]
        if kind == "user":
            content = text
        if kind == "result":
            content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
        base: Json = {"parentUuid": parent, "isSidechain": False, "sessionId": "s1", "cwd": "/w",
                      "version": "2.1", "uuid": uuid, "timestamp": TIME}  # fmt: skip
        if kind in ("call", "answer"):
            message = {"id": f"msg_{number}", "type": "message", "role": "assistant",
                       "model": "claude-x", "content": content, "stop_reason": None}  # fmt: skip
            records.append({**base, "type": "assistant", "message": message})
            if kind == "call":
                uuid = f"00000000-0000-4000-9000-{number:012x}"
                used = {"type": "tool_use", "id": call, "name": "read", "input": {"path": "a"}}
                records.append({**base, "uuid": uuid, "parentUuid": base["uuid"],
                                "type": "assistant",
                                "message": {**message, "content": [used]}})  # fmt: skip
        else:
            records.append(
                {**base, "type": "user", "message": {"role": "user", "content": content}}
            )
        parent = uuid
    return lines(records)


def plugsuits(turns: Sequence[Turn]) -> bytes:
    messages: list[Json] = []
    for number, (kind, call, text) in enumerate(_said(turns)):
        content: Any = text
        role = {"user": "user", "result": "tool"}.get(kind, "assistant")
        if kind == "call":
            content = [{"type": "text", "text": text},
                       {"type": "tool-call", "toolCallId": call, "toolName": "read",
                        "input": {"path": "a"}}]  # fmt: skip
        if kind == "result":
            content = [{"type": "tool-result", "toolCallId": call, "toolName": "read",
                        "output": {"type": "text", "value": text}}]  # fmt: skip
        messages.append({"id": f"m{number}", "message": {"role": role, "content": content},
                         "createdAt": number, "isSummary": False})  # fmt: skip
    snapshot = {"messages": messages, "revision": 3, "contextLimit": 1000,
                "compactionState": {"summaryMessageId": None}}  # fmt: skip
    return lines(
        [
            {"type": "header", "sessionId": "s", "createdAt": 1, "version": 1},
            {"type": "snapshot", "snapshot": snapshot, "updatedAt": 2},
            *({"type": "message", **message} for message in messages),
            {"type": "checkpoint", "summaryMessageId": None, "updatedAt": 2},
        ]
    )


def _chat(turns: Sequence[Turn]) -> list[Json]:
    made: list[Json] = [{"role": "system", "content": "Be brief."}]
    for kind, call, text in _said(turns):
        if kind == "result":
            made.append({"role": "tool", "tool_call_id": call, "content": text})
        elif kind == "call":
            used = {"id": call, "type": "function",
                    "function": {"name": "read", "arguments": '{"path":"a"}'}}  # fmt: skip
            made.append({"role": "assistant", "content": text, "tool_calls": [used]})
        else:
            role = "user" if kind == "user" else "assistant"
            made.append({"role": role, "content": text})
    return made


def chat(turns: Sequence[Turn]) -> bytes:
    return json.dumps({"model": "gpt-5", "messages": _chat(turns), "tools": []}).encode()


def chat_lines(turns: Sequence[Turn]) -> bytes:
    return lines(_chat(turns))


def anthropic(turns: Sequence[Turn]) -> bytes:
    made: list[Json] = []
    for kind, call, text in _said(turns):
        content: Any = [{"type": "text", "text": text}]
        if kind == "call":
            content.append({"type": "tool_use", "id": call, "name": "read", "input": {"path": "a"}})
        if kind == "result":
            content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
        role = "user" if kind in ("user", "result") else "assistant"
        made.append({"role": role, "content": content})
    body = {"model": "claude-x", "max_tokens": 9, "system": "Be brief.", "messages": made}
    return json.dumps(body).encode()


def responses(turns: Sequence[Turn]) -> bytes:
    made: list[Json] = []
    for kind, call, text in _said(turns):
        if kind == "result":
            made.append({"type": "function_call_output", "call_id": call, "output": text})
            continue
        role = "user" if kind == "user" else "assistant"
        part = {"type": "input_text" if role == "user" else "output_text", "text": text}
        if kind == "call":
            made.append({"type": "reasoning", "id": f"rs_{call}", "summary": [],
                         "encrypted_content": "gAAAA"})  # fmt: skip
        made.append({"type": "message", "role": role, "content": [part]})
        if kind == "call":
            made.append({"type": "function_call", "id": f"fc_{call}", "call_id": call,
                         "name": "read", "arguments": '{"path":"a"}'})  # fmt: skip
    return json.dumps({"model": "gpt-5", "instructions": "Be brief.", "input": made}).encode()


def gemini(turns: Sequence[Turn]) -> bytes:
    made: list[Json] = []
    for kind, call, text in _said(turns):
        part: Json = {"text": text}
        if kind == "result":
            part = {"functionResponse": {"id": call, "name": "read", "response": {"output": text}}}
        role = "user" if kind in ("user", "result") else "model"
        parts = [part]
        if kind == "call":
            parts.append({"functionCall": {"id": call, "name": "read", "args": {"path": "a"}}})
        made.append({"role": role, "parts": parts})
    return json.dumps({"contents": made}).encode()


BUILDERS: dict[str, Callable[[Sequence[Turn]], bytes]] = {
    "anthropic_messages": anthropic,
    "claude_code": claude,
    "gemini_contents": gemini,
    "kit": kit,
    "ohmypi": lambda turns: pi(turns, title=True),
    "openai_chat": chat,
    "openai_chat lines": chat_lines,
    "openai_responses": responses,
    "pi": pi,
    "pi version 1": lambda turns: pi(turns, version=1),
    "plugsuits_session": plugsuits,
}
"""Format (and variant) to the session of some turns."""


def long_turns(count: int = 8) -> list[Turn]:
    """Turns with words enough that a summary is shorter."""
    return [
        Turn(
            f"Question {n}: please look at file number {n}. " + "It matters a lot. " * 6,
            f"Answer {n}: the file holds the value {n * 7919}. " + "That is all of it. " * 6,
            f"line one of {n}\n" + "some content that goes on and on\n" * 30 if n % 2 else None,
        )
        for n in range(count)
    ]
