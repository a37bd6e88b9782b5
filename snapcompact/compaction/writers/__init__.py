"""Compactions written back into the session files of the tools, one module a format."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from snapcompact.compaction.writers.contract import Writer

WRITERS: Mapping[str, str] = {
    "anthropic_messages": "chat",
    "claude_code": "claude",
    "kit": "kit",
    "ohmypi": "pi",
    "openai_chat": "chat",
    "openai_responses": "responses",
    "pi": "pi",
    "plugsuits_session": "plugsuits",
}
"""Format to module, sorted; any other format is written as messages JSON."""

APPENDING = frozenset({"claude_code", "kit", "ohmypi", "pi"})
"""Formats whose file keeps all its bytes: a compaction is added behind them."""

OTHER = "messages"


def writer_for(format_name: str) -> Writer:
    """The writer of sessions of that format."""
    module = WRITERS.get(format_name, OTHER)
    return cast("Writer", import_module(f"{__name__}.{module}"))


def appends(format_name: str) -> bool:
    """True where a compacted file still holds every entry of the old one."""
    return format_name in APPENDING


def keeps_format(format_name: str) -> bool:
    """True where a compacted session is written in its own format."""
    return format_name in WRITERS
