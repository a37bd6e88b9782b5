"""One HTML page of a history: pictures inside, nothing loaded, nothing run.

All content is escaped. A content security policy, first in the head, forbids scripts, frames,
forms and every load but pictures from data URLs and the one style sheet, named by its hash.
Pictures are shown only where their own bytes say that they are PNG, JPEG, GIF or WebP.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape

from snapcompact.history.blobs import picture
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

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:auto;padding:1em}
body{color:#111;background:#fff}
article{border-left:4px solid #999;margin:1em 0;padding:.2em 1em}
.user{border-color:#06c}.assistant{border-color:#080}.tool{border-color:#a60}.note{border-color:#c0c}
header{font-weight:bold}time{font-weight:normal;color:#666;margin-left:1em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5em 0}
pre.code{background:#f4f4f4;padding:.5em;font-size:14px}
.error{color:#b00}img{max-width:100%;image-rendering:auto}summary{cursor:pointer;color:#555}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEAD = f"""<!doctype html>
<html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width"><title>History</title>
<style>{_STYLE}</style></head><body>
"""
_FOLD_CHARACTERS = 2_000
"""Longer tool results start folded."""


def export(messages: Iterable[Message]) -> Iterator[bytes]:
    """The page, a piece a message."""
    yield _HEAD.encode()
    for message in messages:
        yield _article(message).encode("utf-8", "replace")
    yield b"</body></html>\n"


def _article(message: Message) -> str:
    time = f"<time>{_text(message.meta.time)}</time>" if message.meta.time else ""
    body = "".join(map(_block, message.blocks))
    head = f"<header>{escape(title(message))}{time}</header>"
    return f'<article class="{message.role}">{head}{body}</article>\n'


def _block(block: Block) -> str:
    match block:
        case Text():
            return f"<pre>{_data(block.data)}</pre>"
        case Thinking():
            words = _data(block.data) or f"(sealed, {block.sealed_bytes:,} bytes)"
            return f"<details><summary>Thinking</summary><pre>{words}</pre></details>"
        case ToolCall():
            head = f"Call <code>{_text(block.name)}</code>"
            return f'<div>{head}<pre class="code">{_data(block.args)}</pre></div>'
        case ToolResult():
            return _result(block)
        case Blob():
            return _picture(block)
        case Other():
            head = f"<summary>{_text(block.kind)}</summary>"
            return f'<details>{head}<pre class="code">{_data(block.data)}</pre></details>'


def _result(result: ToolResult) -> str:
    parts = [
        f'<pre class="code">{_data(part.data)}</pre>' if isinstance(part, Text) else _block(part)
        for part in result.content
    ]
    body = "".join(parts) or "<pre>(empty)</pre>"
    if result.is_error:
        body = f'<div class="error">Error{body}</div>'
    if sum(len(part.data) for part in result.content if isinstance(part, Text)) <= _FOLD_CHARACTERS:
        return body
    return f"<details><summary>Output</summary>{body}</details>"


def _picture(blob: Blob) -> str:
    words = escape(marker(blob))
    found = picture(blob.data) if blob.data is not None else None
    if found is None or blob.data is None:
        return f"<pre>{words}</pre>"
    url = f"data:{found.mime};base64,{base64.b64encode(blob.data).decode()}"
    return f'<figure><img alt="{words}" src="{url}"></figure>'


def _data(data: bytes) -> str:
    return escape(plain(data))


def _text(text: str) -> str:
    return escape(plain_text(text))
