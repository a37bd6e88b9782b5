"""aider's chat history."""

from __future__ import annotations

import pytest

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Role
from snapcompact.history.session import open_session
from snapcompact.history.source import Source
from tests.history.seen import sample, seen

HISTORY = b"""
# aider chat started at 2026-01-02 03:04:05

> Aider v0.86.1  
> Main model: gpt-x with diff edit format  

#### list the files  
#### and count them  

One file:

```
> quoted in code
#### not a user
# aider is fun
```

# A heading of its own

> Tokens: 1.2k sent, 30 received.  

# aider chat started at 2026-01-02 03:04:05

#### /exit  
"""  # noqa: W291 - aider ends lines with two blanks


def test_speakers_and_sessions() -> None:
    got = seen(HISTORY)
    assert got.format == "aider"
    assert [(m.role, m.label) for m in got.messages] == [
        (Role.NOTE, "conversation"),
        (Role.NOTE, "aider"),
        (Role.USER, ""),
        (Role.ASSISTANT, ""),
        (Role.NOTE, "aider"),
        (Role.NOTE, "conversation"),
        (Role.USER, ""),
    ]
    assert got.messages[2].text == "list the files\nand count them"
    assert got.messages[3].text.startswith("One file:\n\n```\n> quoted in code\n#### not a user")
    assert got.messages[3].text.endswith("# A heading of its own")
    assert got.messages[3].meta.model == "gpt-x"
    assert (got.messages[2].meta.line, got.texts[-1]) == (7, "/exit")


def test_one_session_by_its_start() -> None:
    with open_session(HISTORY) as session:
        names = [about.id for about in session.conversations]
    assert names == ["2026-01-02 03:04:05", "2026-01-02 03:04:05 (2)"]
    assert seen(HISTORY, select=names[1]).texts == ["/exit"]
    with pytest.raises(UnknownNameError):
        seen(HISTORY, select="2026")


def test_markers_alone_ask_for_the_name_too() -> None:
    marked = b"#### a\n\n> b\n"
    assert seen(marked).format == "text"
    assert seen(Source(".aider.chat.history.md", data=marked)).format == "aider"


def test_a_prefix_gives_a_prefix() -> None:
    whole = seen(HISTORY).messages
    half = seen(HISTORY[: HISTORY.index(b"# A heading")]).messages
    assert half[:-1] == whole[: len(half) - 1]


def test_sample() -> None:
    got = seen(sample("aider_history/aider-repo-history-excerpt.md"))
    assert got.format == "aider"
    assert got.roles == {"note": 358, "user": 141, "assistant": 56}
    assert sum(m.label == "conversation" for m in got.messages) == 114
    assert (got.texts[0], got.messages[2].text) == ("2024-08-08 14:00:58", "hi")
    assert got.report.info["model"] == "claude-3-5-sonnet-20240620"
