"""Markdown for people: a heading a message; what tools said in code fences no content can close."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from snapcompact.history.export.wording import marker, plain, plain_text, title
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_TICKS = re.compile("`+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BREAKS_OUT = re.compile(r"^(\s*)(#{1,6}\s|[=-]+\s*$)")
"""Lines that would make a heading, and so look like a message of their own."""


def export(messages: Iterable[Message]) -> Iterator[bytes]:
    """The Markdown of `messages`, a piece a message."""
    for message in messages:
        head = f"## {_inline(title(message))}"
        if message.meta.time:
            head += f" · {_inline(plain_text(message.meta.time))}"
        parts = [head, *map(_block, message.blocks)]
        yield ("\n\n".join(parts) + "\n\n").encode("utf-8", "replace")


def _block(block: Block) -> str:
    match block:
        case Text():
            return _prose(plain(block.data))
        case Thinking():
            words = plain(block.data) or f"(sealed, {block.sealed_bytes:,} bytes)"
            return "\n".join(f"> {line}" for line in ("*Thinking*", "", *words.split("\n")))
        case ToolCall():
            return (
                f"**Call** {_code(plain_text(block.name))}\n\n{_fenced(plain(block.args), 'json')}"
            )
        case ToolResult():
            parts = [
                _fenced(plain(p.data)) if isinstance(p, Text) else _block(p) for p in block.content
            ]
            return "\n\n".join(
                [*(["**Error**"] if block.is_error else []), *(parts or ["(empty)"])]
            )
        case Blob():
            return _code(marker(block))
        case Other():
            return f"{_code(plain_text(block.kind))}\n\n{_fenced(plain(block.data), 'json')}"


def _prose(text: str) -> str:
    """Words as they are, for they are Markdown as a rule.

    Outside fenced code, tags and headings are disarmed; a fence left open is closed.
    """
    out, fence = [], ""
    for line in text.split("\n"):
        ticks = _FENCE.match(line)
        if fence:
            if ticks and ticks[1].startswith(fence) and not line[ticks.end() :].strip():
                fence = ""
            out.append(line)
        elif ticks:
            fence = ticks[1]
            out.append(line)
        else:
            out.append(_BREAKS_OUT.sub(r"\1\\\2", line.replace("<", "&lt;")))
    return "\n".join([*out, fence] if fence else out)


def _inline(text: str) -> str:
    return re.sub(r"([\\`*_<\[\]#])", r"\\\1", text)


def _code(text: str) -> str:
    ticks = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    return f"{ticks} {text} {ticks}" if text else "` `"


def _fenced(text: str, language: str = "") -> str:
    ticks = "`" * max(3, max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"
