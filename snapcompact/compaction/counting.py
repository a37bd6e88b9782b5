"""Tokens of a message by a rule: data for a preset, so that each seed system's count can be asked.

The engine takes any :data:`Estimator`. The default preset's is the learned one of
``snapcompact.tokens``; the rules here are the simple ones and cost no table.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from snapcompact.compaction.entries import SUMMARY, blobs_of
from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shown,
)

Estimator = Callable[[Message], int]
"""Tokens of one message, never negative."""

# CJK punctuation, kana, Hangul (jamo, syllables), ideographs with extensions, full-width forms.
_CJK = re.compile(
    "[\u1100-\u11ff\u3000-\u303f\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_LEAF_DEPTH = 5


@dataclass(frozen=True, slots=True)
class TokenRules:
    """How a simple estimate counts. ``unit`` is bytes, utf16 or cjk (1.5 characters a token)."""

    unit: str = "cjk"
    divisor: float = 4
    cjk_divisor: float = 1.5
    rounding: str = "ceil"
    per: str = "fragment"
    """``fragment``: each piece is rounded alone; ``message``: their sum is."""
    tool_divisor: float = 0
    """Characters a token inside tool calls and results; 0 counts them as text."""
    joined: bool = False
    """Count the message's one joined text, tool results as JSON (see :func:`joined_text`)."""
    thinking: bool = True
    sealed: bool = True
    images: Mapping[str, int] = field(default_factory=dict)
    """Tokens of an image by the message's label or role; ``*`` for any other."""
    image_pixels: int = 0
    """Pixels a token where an image's size is known; 0 uses ``images`` alone."""
    blob_bytes: int = 0
    """Bytes a token for images and files; 0 uses ``images``."""
    uncounted: tuple[str, ...] = ()
    """Roles that cost nothing."""


def utf16_units(text: str) -> int:
    """Length of `text` in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _weight(text: str, rules: TokenRules) -> float:
    if rules.unit == "bytes":
        return len(text.encode("utf-8", "surrogatepass")) / rules.divisor
    wide = 0 if rules.unit == "utf16" or text.isascii() else len(_CJK.findall(text))
    return wide / rules.cjk_divisor + (utf16_units(text) - wide) / rules.divisor


def _rounded(value: float, rules: TokenRules) -> int:
    # 1e-9 keeps thirds that add up to a whole (2/1.5 three times) from being rounded up once more.
    return math.floor(value) if rules.rounding == "floor" else math.ceil(value - 1e-9)


def count_text(text: str, rules: TokenRules) -> int:
    """Tokens of `text` by `rules`."""
    return _rounded(_weight(text, rules), rules)


def _leaves(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth >= _LEAF_DEPTH:
        return ""
    if isinstance(value, list):
        return "".join(_leaves(part, depth + 1) for part in value)
    if isinstance(value, dict):
        for hiding in ("value", "text"):
            if hiding in value:
                return _leaves(value[hiding], depth + 1)
        return "".join(_leaves(part, depth + 1) for part in value.values())
    return ""


def _json_or_text(data: bytes) -> object:
    try:
        parsed: object = json.loads(data)
    except ValueError:
        return shown(data)
    return parsed


def leaf_text(data: bytes) -> str:
    """The string leaves of JSON text, joined: what is left when keys and numbers count nothing.

    ``value`` or ``text`` hides its neighbours, five levels deep; text that is no JSON stands whole.
    """
    return _leaves(_json_or_text(data))


def _result_leaves(result: ToolResult) -> str:
    parts = [
        part.text if isinstance(part, Text) else leaf_text(part.data)
        for part in result.content
        if isinstance(part, Text | Other)
    ]
    return "".join(parts)


def _tool_fragment(block: ToolCall | ToolResult) -> str:
    if isinstance(block, ToolCall):
        return block.name + leaf_text(block.args)
    return _result_leaves(block)


def blob_tokens(blob: Blob, message: Message, rules: TokenRules) -> int:
    """Tokens of an image or file of `message`: by bytes, by pixels, or by the message's kind."""
    if rules.blob_bytes:
        return count_text(blob.name, rules) * (blob.kind == "file") + blob.size // rules.blob_bytes
    if rules.image_pixels and blob.width_px and blob.height_px:
        return math.ceil(blob.width_px * blob.height_px / rules.image_pixels)
    for key in (message.label, message.role.value, "*"):
        if key in rules.images:
            return rules.images[key]
    return 0


def _block_texts(block: object, rules: TokenRules) -> Iterator[str]:
    """The texts of a block that count as text, each a fragment."""
    if isinstance(block, Text):
        yield block.text
    elif isinstance(block, Other):
        yield shown(block.data)
    elif isinstance(block, Thinking) and rules.thinking:
        yield block.text
        if rules.sealed:
            yield "s" * block.sealed_bytes
    elif isinstance(block, ToolCall):
        yield block.name
        yield shown(block.args)
    elif isinstance(block, ToolResult):
        for part in block.content:
            yield from _block_texts(part, rules)


def _fragments(message: Message, rules: TokenRules) -> Iterator[float]:
    for block in message.blocks:
        if rules.tool_divisor and isinstance(block, ToolCall | ToolResult):
            yield utf16_units(_tool_fragment(block)) / rules.tool_divisor
            continue
        for text in _block_texts(block, rules):
            yield _weight(text, rules)


def count_message(message: Message, rules: TokenRules) -> int:
    """Tokens of `message` by `rules`: its words, calls, results, reasoning and pictures."""
    if message.role.value in rules.uncounted and message.label != SUMMARY:
        return 0
    if rules.joined:
        return count_text(joined_text(message), rules)
    pictures = sum(blob_tokens(blob, message, rules) for blob in blobs_of(message))
    weights = list(_fragments(message, rules))
    if rules.per == "message":
        return _rounded(sum(weights), rules) + pictures
    return sum(_rounded(weight, rules) for weight in weights) + pictures


def memoised(estimator: Estimator) -> Estimator:
    """`estimator`, asked once for each message object; it holds the messages it has seen."""
    known: dict[int, tuple[Message, int]] = {}

    def count(message: Message) -> int:
        found = known.get(id(message))
        if found is None:
            found = known[id(message)] = (message, estimator(message))
        return found[1]

    return count


def rule_estimator(rules: TokenRules) -> Estimator:
    """The :data:`Estimator` that counts by `rules`."""
    return lambda message: count_message(message, rules)


def output_json(result: ToolResult) -> str:
    """A tool result as JSON: what it held where that was JSON, else its text in a wrapper."""
    others = [part for part in result.content if isinstance(part, Other)]
    if others:
        return shown(others[0].data)
    return json.dumps(
        {"type": "text", "value": result.text}, ensure_ascii=False, separators=(",", ":")
    )


def joined_text(message: Message, names: Mapping[str, str] | None = None) -> str:
    """The one text some estimates and searches look at: parts joined by blanks, tools as JSON.

    A tool result stands as its tool's name and ``{"type":"text","value":…}``; reasoning and
    pictures stand as nothing. A result's name comes from `names`, else from its call id before the
    first colon.
    """
    parts: list[str] = []
    for block in message.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, ToolCall):
            parts.append(f"{block.name} {shown(block.args)}")
        elif isinstance(block, ToolResult):
            name = (names or {}).get(block.call_id) or block.call_id.split(":")[0]
            parts.append(f"{name} {output_json(block)}")
        else:
            parts.append("")
    return " ".join(parts)


def tool_schema_tokens(tools: Mapping[str, tuple[str, bytes]], rules: TokenRules) -> int:
    """Tokens of tool definitions, name to (description, JSON schema); each part rounded alone."""
    return sum(
        count_text(name, rules) + count_text(text, rules) + count_text(shown(schema), rules)
        for name, (text, schema) in tools.items()
    )
