"""A stretch of history as the text a summary is made from.

How it looks is a table (:class:`SerialRules`); long tool results keep head and tail, because the
error that matters stands at the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from snapcompact.compaction.entries import BASH, BRANCH_SUMMARY, SUMMARY
from snapcompact.compaction.pairs import answers
from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shown,
)


@dataclass(frozen=True, slots=True)
class SerialRules:
    """Labels and limits. ``style``: ``labels`` (``[User]: …``), ``merged`` (results by call)."""

    style: str = "labels"
    result_limit: int = 2000
    """Characters of a tool result; 0 keeps all."""
    argument_limit: int = 500
    """Characters of one argument, with the ``merged`` style."""
    call_limit: int = 2000
    thinking_limit: int = 0
    head_share: float = 0.6
    """Share of the limit kept from the start, the rest from the end."""
    marker: str = "\n[… {count} characters left out …]\n"
    """Put where text was cut; ``{count}`` is how many characters went."""
    blobs: bool = True
    """Images and files leave a line; else they leave nothing."""
    skip_useless: bool = True


def cut_middle(text: str, limit: int, head_share: float, marker: str) -> str:
    """`text`, cut to `limit` characters and a marker where it is longer; 0 is no limit."""
    if not limit or len(text) <= limit:
        return text
    head = int(limit * head_share)
    tail = limit - head
    said = marker.format(count=len(text) - limit)
    return text[:head] + said + (text[-tail:] if tail else "")


def cut_bytes(data: bytes, limit: int, suffix: str) -> bytes:
    """`data`, cut to `limit` bytes and never inside a character, with a suffix that says how many.

    `suffix` names the count of bytes that went as ``{count}``.
    """
    if len(data) <= limit:
        return data
    end = limit
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end] + suffix.format(count=len(data) - end).encode()


def _argument(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def call_text(call: ToolCall, rules: SerialRules) -> str:
    """``name(key=json, …)``; arguments that are no JSON object stand as they were sent."""
    try:
        args = json.loads(call.args) if call.args.strip() else {}
    except ValueError:
        args = None
    if not isinstance(args, dict):
        words = cut_middle(shown(call.args), rules.call_limit, rules.head_share, rules.marker)
        return f"{call.name}({words})"
    limit, share, marker = rules.argument_limit, rules.head_share, rules.marker
    parts = [f"{k}={cut_middle(_argument(v), limit, share, marker)}" for k, v in args.items()]
    text = f"{call.name}({', '.join(parts)})"
    return cut_middle(text, rules.call_limit, rules.head_share, rules.marker)


def _blob_line(blob: Blob) -> str:
    size = f" {blob.width_px}x{blob.height_px}" if blob.width_px else ""
    return f"[{blob.kind} {blob.mime or 'of unknown type'}{size}, {blob.size} bytes]"


def _with_blobs(text: str, blobs: Iterable[Blob], rules: SerialRules) -> str:
    lines = [_blob_line(blob) for blob in blobs] if rules.blobs else []
    return "\n".join([text, *lines] if text else lines)


def bash_text(message: Message) -> str:
    """A user's own shell run in words: command, output, exit code where it is not 0."""
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    command, output = (*texts, "", "")[:2]
    code = next((shown(b.data) for b in message.blocks if isinstance(b, Other)), "0")
    said = f"Ran `{command}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    return said + (f"\n\nCommand exited with code {code}" if code not in ("0", "") else "")


def _result_text(result: ToolResult, rules: SerialRules) -> str:
    blobs = [part for part in result.content if isinstance(part, Blob)]
    extra = [shown(part.data) for part in result.content if isinstance(part, Other)]
    text = "\n".join(part for part in (result.text, *extra) if part)
    text = cut_middle(text, rules.result_limit, rules.head_share, rules.marker)
    return _with_blobs(text, blobs, rules)


def _words(message: Message, rules: SerialRules) -> str:
    if message.label == BASH and any(isinstance(block, Text) for block in message.blocks):
        return bash_text(message)
    own = [block for block in message.blocks if isinstance(block, Blob)]
    others = [shown(block.data) for block in message.blocks if isinstance(block, Other)]
    text = "\n".join(part for part in (message.text, *others) if part)
    return _with_blobs(text, own, rules)


def _user(message: Message, rules: SerialRules) -> list[tuple[str, str]]:
    label = {SUMMARY: "Summary", BRANCH_SUMMARY: "Branch summary"}.get(message.label, "User")
    ran = [call_text(block, rules) for block in message.blocks if isinstance(block, ToolCall)]
    return [(label, _words(message, rules)), ("User ran", "; ".join(ran))]


def _assistant(message: Message, rules: SerialRules) -> list[tuple[str, str]]:
    thinking = "\n".join(b.text for b in message.blocks if isinstance(b, Thinking) and b.data)
    calls = [call_text(b, rules) for b in message.blocks if isinstance(b, ToolCall)]
    thinking = cut_middle(thinking, rules.thinking_limit, rules.head_share, rules.marker)
    return [
        ("Assistant thinking", thinking),
        ("Assistant", _words(message, rules)),
        ("Assistant tool calls", "; ".join(calls)),
    ]


def _tool(message: Message, rules: SerialRules) -> list[tuple[str, str]]:
    results = [
        ("Tool error" if b.is_error and rules.blobs else "Tool result", _result_text(b, rules))
        for b in message.blocks
        if isinstance(b, ToolResult)
    ]
    rest = _words(message, rules)
    return [*results, ("User", rest)] if rest else results


def _note(message: Message, rules: SerialRules) -> list[tuple[str, str]]:
    return [("Note", _words(message, rules))]


_SPEAKERS: Mapping[Role, Callable[[Message, SerialRules], list[tuple[str, str]]]] = {
    Role.USER: _user,
    Role.SYSTEM: lambda message, rules: [("System", _words(message, rules))],
    Role.ASSISTANT: _assistant,
    Role.TOOL: _tool,
    Role.NOTE: _note,
}


def serialise(messages: Sequence[Message], rules: SerialRules) -> str:
    """`messages` as one text: labelled parts with a blank line between, empty parts left out."""
    if rules.style == "merged":
        return _merged(messages, rules)
    parts = [part for message in messages for part in _SPEAKERS[message.role](message, rules)]
    return "\n\n".join(f"[{label}]: {text}" for label, text in parts if text)


def _merged(messages: Sequence[Message], rules: SerialRules) -> str:
    pairs = answers(messages)
    texts: dict[tuple[int, int], list[str]] = {}
    for (index, place), call in pairs.items():
        block = messages[index].blocks[place]
        if isinstance(block, ToolResult):
            texts.setdefault(call, []).append(_result_text(block, rules))
    parts: list[str] = []
    for index, message in enumerate(messages):
        parts += _merged_speech(message, rules)
        for place, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                said = "\n".join(texts.get((index, place), []))
                parts.append(_out(call_text(block, rules) + "\n", said))
            elif isinstance(block, ToolResult) and (index, place) not in pairs:
                parts.append(_out("", _result_text(block, rules)))
    return "\n\n".join(parts)


def _out(call: str, result: str) -> str:
    return f"# Tool call ¶\n{call}<out>\n{result}\n</out>"


def _merged_speech(message: Message, rules: SerialRules) -> list[str]:
    thinking = "\n".join(b.text for b in message.blocks if isinstance(b, Thinking) and b.data)
    body = "\n\n".join(part for part in (f"_{thinking}_" if thinking else "",
                                         _words(message, rules)) if part)  # fmt: skip
    head = "Assistant" if message.role is Role.ASSISTANT else "User"
    return [f"# {head} ¶\n{body}"] if body else []
