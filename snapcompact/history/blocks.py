"""Content blocks of the provider APIs, as sessions hold them, to our blocks. Pure.

One table by the block's ``type`` serves Anthropic, OpenAI chat and Responses and their kin: the
names do not clash. What no row knows is kept whole as :class:`Other`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from snapcompact.history.blobs import blob_base64, blob_url, missing
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)

Json = dict[str, Any]


def blocks(content: Any) -> list[Block]:
    """Blocks of a message's ``content``: null, text, one block, or a list of text and blocks.

    Empty texts are left out; nulls in a list too.
    """
    if isinstance(content, str):
        return [Text(wtf8(content))] if content else []
    if content is None:
        return []
    if not isinstance(content, list):
        return [_block(content)]
    found = [_block(item) for item in content if item is not None]
    return [block for block in found if type(block) is not Text or block.data]


def result_content(content: Any) -> tuple[Content, ...]:
    """What a tool gave back, of any JSON: text and pictures where it is one, else JSON text."""
    if isinstance(content, str):
        return (Text(wtf8(content)),) if content else ()
    if content is None:
        return ()
    if not isinstance(content, list):
        return (Text(json_text(content)),)
    found = [_content(item) for item in content if item is not None]
    return tuple([part for part in found if type(part) is not Text or part.data])


def call_args(value: Any) -> bytes:
    """Arguments of a call: text as it stands, null as nothing, anything else as JSON."""
    if value is None:
        return b""
    return wtf8(value) if isinstance(value, str) else json_text(value)


def text_of(value: Any) -> str:
    """`value` where it is text, else ``""``: for fields that should be text and may not be."""
    return value if type(value) is str else ""


def name_of(value: Any) -> str:
    """`value` as a name: text as it is, null as nothing, anything else as its JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value).decode("utf-8", "replace")


def json_of(value: Any) -> Json:
    """`value` where it is an object, else an empty one."""
    return value if type(value) is dict else {}


def list_of(value: Any) -> list[Any]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def messages(role: Role, found: list[Block], label: str, meta: Meta) -> list[Message]:
    """Messages for the blocks of one record: each tool result by itself, in role ``TOOL``.

    A user's words follow the results that came with them; an answer keeps its order.
    """
    if not found:
        return []
    if len(found) == 1:  # nine records in ten
        role = Role.TOOL if type(found[0]) is ToolResult else role
        return [Message(role, (found[0],), label, meta)]
    if ToolResult not in map(type, found):
        return [Message(role, tuple(found), label, meta)]
    if role is Role.USER:
        found = sorted(found, key=lambda block: not isinstance(block, ToolResult))
    out: list[Message] = []
    for is_result, run in groupby(found, key=lambda block: isinstance(block, ToolResult)):
        if is_result:
            out += [Message(Role.TOOL, (block,), label, meta) for block in run]
        else:
            out.append(Message(role, tuple(run), label, meta))
    return out


def _content(item: Any) -> Content:
    block = _block(item)
    return block if isinstance(block, Text | Blob | Other) else _other(item)


def _block(item: Any) -> Block:
    if isinstance(item, str):
        return Text(wtf8(item))
    if not isinstance(item, dict):
        return Other(type(item).__name__, json_text(item))
    kind = item.get("type")
    if isinstance(kind, str):
        make = _KINDS.get(kind)
        if make is not None:
            return make(item) or _other(item)
        if kind.endswith("_tool_result"):
            return _tool_result(item)
    return _other(item)


def _other(item: Json) -> Other:
    kind = item.get("type")
    return Other(kind if isinstance(kind, str) and kind else "block", json_text(item))


def _text(item: Json) -> Block | None:
    text = item.get("text", "")
    if text is None:
        return Text(b"")
    return Text(wtf8(text)) if isinstance(text, str) else None


def _refusal(item: Json) -> Block | None:
    text = item.get("refusal")
    return Text(wtf8(text)) if isinstance(text, str) else None


def _thinking(item: Json) -> Block | None:
    text = item.get("thinking") or ""
    if not isinstance(text, str):
        return None
    seal = text_of(item.get("signature")) or text_of(item.get("thinkingSignature"))
    return Thinking(wtf8(text), 0 if text else len(seal))


def _redacted(item: Json) -> Block | None:
    return Thinking(b"", len(text_of(item.get("data"))))


def _encrypted(item: Json) -> Block | None:
    return Thinking(b"", len(text_of(item.get("encrypted_content"))))


def _pi_call(item: Json) -> Block | None:
    """A ``toolCall`` of pi; what streaming left beside its arguments is no part of them."""
    args = item.get("arguments")
    if isinstance(args, dict):
        args = {key: args[key] for key in args if key not in ("partialJson", "partialArgs")}
    return ToolCall(name_of(item.get("id")), name_of(item.get("name")), call_args(args))


def _tool_call(item: Json) -> Block | None:
    return ToolCall(
        name_of(item.get("id")), name_of(item.get("name")), call_args(item.get("input"))
    )


def _tool_result(item: Json) -> ToolResult:
    content = item.get("content", item.get("output"))
    error = item.get("is_error") is True or (
        isinstance(content, dict) and text_of(content.get("type")).endswith("_error")
    )
    return ToolResult(name_of(item.get("tool_use_id")), result_content(content), error)


def _source(item: Json) -> Block | None:
    """Anthropic's image and document blocks; pi's image, which holds its bytes itself."""
    kind = "image" if item.get("type") == "image" else "file"
    source, name = json_of(item.get("source", item)), text_of(item.get("title"))
    mime = text_of(source.get("media_type", source.get("mimeType")))
    data = source.get("data")
    match source.get("type"), data, source.get("url"):
        case (("base64" | "image" | None), str(), _) if data:
            return blob_base64(kind, mime, data, name)
        case "text", str(), _:
            return Text(wtf8(data))
        case _, _, str() as url if url:
            return blob_url(kind, url, mime, name)
        case "file", _, _:
            return missing(kind, f"file {name_of(source.get('file_id'))}", mime, name)
        case _ if not source or data in (None, ""):
            return missing(kind, "no bytes in the session", mime, name)
    return None


def _image_url(item: Json) -> Block | None:
    """OpenAI's ``image_url`` (an object or text) and ``input_image``."""
    place = item.get("image_url")
    url = place.get("url") if isinstance(place, dict) else place
    if isinstance(url, str) and url:
        return blob_url("image", url)
    file_id = item.get("file_id")
    if isinstance(file_id, str):
        return missing("image", f"file {file_id}")
    return None


def _file(item: Json) -> Block | None:
    """OpenAI's ``file`` and ``input_file``."""
    inner = json_of(item.get("file")) or item
    name = text_of(inner.get("filename"))
    data, url = inner.get("file_data"), inner.get("file_url")
    if isinstance(data, str) and data and not data.startswith("data:"):
        return blob_base64("file", "", data, name)
    if isinstance(place := data or url, str):
        return blob_url("file", place, name=name)
    if isinstance(inner.get("file_id"), str):
        return missing("file", f"file {inner['file_id']}", name=name)
    return None


def _audio(item: Json) -> Block | None:
    inner = json_of(item.get("input_audio"))
    if isinstance(inner.get("data"), str):
        return blob_base64("file", f"audio/{text_of(inner.get('format'))}", inner["data"])
    return None


_KINDS: Mapping[str, Callable[[Json], Block | None]] = {
    "document": _source,
    "encrypted_content": _encrypted,
    "file": _file,
    "image": _source,
    "image_url": _image_url,
    "input_audio": _audio,
    "input_file": _file,
    "input_image": _image_url,
    "input_text": _text,
    "mcp_tool_use": _tool_call,
    "output_text": _text,
    "redacted_thinking": _redacted,
    "refusal": _refusal,
    "server_tool_use": _tool_call,
    "summary_text": _text,
    "text": _text,
    "thinking": _thinking,
    "toolCall": _pi_call,
    "tool_result": _tool_result,
    "tool_use": _tool_call,
}
