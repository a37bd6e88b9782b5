"""What an extract carries on of the summary before it, and of pages a pass of ours put in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from snapcompact.compaction.files import FileRules, without_lists
from snapcompact.compaction.modes.pointer import HEAD_START, find_pointer, is_pages

if TYPE_CHECKING:
    from snapcompact.history.model import Message

_COUNT = re.compile(r"All of it, (\d+ messages), is in")


def carried(previous: str, messages: Sequence[Message], files: FileRules) -> str:
    """The summary before this one as it is carried on; pages only by the name of their archive."""
    text = without_lists(previous).strip() if files.style == "tags" else previous.strip()
    pages = [text] if text.startswith(HEAD_START) else []
    text = "" if pages else text
    for shown in (*pages, *(message.text for message in messages if is_pages(message))):
        found = find_pointer(shown)
        if found and f"archive {found[0]}" not in text:
            text = f"{_reference(found[0], shown)}\n\n{text}".strip()
    return text


def no_words(earlier: str) -> str:
    """Where the user's words are when none of them is among the records."""
    place = "the earlier history named below" if earlier else "the messages kept after this"
    return f"None here: what the user asked for stands in {place}."


def _reference(name: str, shown: str) -> str:
    count = _COUNT.search(shown)
    many = f", {count[1]}" if count else ""
    command = f"snapcompact restore {shlex.quote(name)} --as transcript"
    return f"Earlier history: archive {name}{many}. Read it with: {command}"
