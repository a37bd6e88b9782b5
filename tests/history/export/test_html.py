"""HTML that runs and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from hypothesis import given

from snapcompact.history.blobs import blob
from snapcompact.history.export import export
from snapcompact.history.model import Blob, Message, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.export.test_replay import PNG
from tests.strategies import histories

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e</pre></body>"
TAGS = {"html", "head", "meta", "title", "style", "body", "article", "header", "time", "pre"}
TAGS |= {"details", "summary", "div", "code", "figure", "img"}


class _Checker(HTMLParser):
    """Every tag and attribute of a page; ``left`` are tags still open."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.left: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.left.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.left.pop() == tag


def checked(messages: list[Message]) -> tuple[str, _Checker]:
    page = b"".join(export(messages, "html")).decode()
    checker = _Checker()
    checker.feed(page)
    checker.close()
    assert checker.left == []
    assert {tag for tag, _ in checker.seen} <= TAGS
    for tag, attributes in checker.seen:
        assert not any(name.startswith("on") for name in attributes)
        assert set(attributes) <= {
            "class",
            "alt",
            "src",
            "content",
            "http-equiv",
            "charset",
            "name",
        }
        if tag == "img":
            assert re.match(r"data:image/(png|jpeg|gif|webp);base64,", str(attributes["src"]))
    return page, checker


@given(histories)
def test_any_history_is_a_page_of_known_tags(history: list[Message]) -> None:
    checked(history)


def test_script_in_every_place_is_text() -> None:
    bad = EVIL.encode()
    picture = Blob("image", EVIL, EVIL, data=bad)
    page, _ = checked(
        [
            Message(Role.ASSISTANT, (Text(bad), Thinking(bad), ToolCall(EVIL, EVIL, bad)), EVIL),
            Message(Role.TOOL, (ToolResult(EVIL, (Text(bad * 99), picture), is_error=True),)),
            Message(Role.USER, (picture, blob("image", EVIL, PNG, EVIL))),
        ]
    )
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert page.count("<img ") == 1


def test_the_policy_stands_first_and_names_the_style() -> None:
    page, checker = checked([])
    (head,) = [at for tag, at in checker.seen if "http-equiv" in at]
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert head["content"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.index("http-equiv") < page.index("<style>")
