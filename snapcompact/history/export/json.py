"""Messages as JSON Lines, and back: what ``export --to json`` and ``restore --as messages`` print.

One object a message: ``role``, ``blocks``, and where there is something to say ``label`` and
``meta``. A block has a ``type`` (``text``, ``thinking``, ``tool_call``, ``tool_result``, ``blob``,
``other``) and the fields of its class in ``history.model``; what is empty, zero or false is left
out, so a reader must take absent fields for that.

A text that is no UTF-8 stands twice: under its own name with U+FFFD for what cannot be shown, and
exactly, in base64, under the name with ``_base64`` behind it, which a reader must prefer. A blob's
bytes, where they are there, are ``data_base64``.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import orjson

from snapcompact.errors import FormatError
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
    Usage,
    shown,
    unwtf8,
    wtf8,
)

Json = dict[str, Any]


def export(messages: Iterable[Message]) -> Iterator[bytes]:
    """One line a message."""
    return map(message_line, messages)


def message_line(message: Message) -> bytes:
    """`message` as one line of JSON, its line end included."""
    return orjson.dumps(message_to_json(message)) + b"\n"


def message_to_json(message: Message) -> Json:
    """`message` as an object of the schema above."""
    out: Json = {"role": str(message.role)}
    _put(out, "label", message.label)
    out["blocks"] = [_block_to_json(block) for block in message.blocks]
    if meta := _meta_to_json(message.meta):
        out["meta"] = meta
    return out


def message_from_json(value: Any) -> Message:
    """The message that :func:`message_to_json` made `value` from. Raises FormatError."""
    try:
        blocks = tuple(map(_block_from_json, value["blocks"]))
        role, label = Role(value["role"]), _get(value, "label")
        return Message(role, blocks, label, _meta_from_json(value.get("meta", {})))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"no message of this schema: {type(error).__name__}: {error}") from error


def _put(out: Json, key: str, text: str | bytes) -> None:
    """`text` under `key` unless it is empty."""
    data = wtf8(text) if isinstance(text, str) else text
    if not data:
        return
    out[key] = shown(data)
    if out[key].encode() != data:
        out[f"{key}_base64"] = base64.b64encode(data).decode()


def _get_bytes(value: Json, key: str) -> bytes:
    exact = value.get(f"{key}_base64")
    if exact is not None:
        return base64.b64decode(exact, validate=True)
    text = value.get(key, "")
    if not isinstance(text, str):
        raise FormatError(f"{key!r} of a message is no text but {type(text).__name__}")
    return wtf8(text)


def _get(value: Json, key: str) -> str:
    return unwtf8(_get_bytes(value, key))


def _number(value: Json, key: str) -> int:
    number = value.get(key, 0)
    if type(number) is not int:
        raise FormatError(f"{key!r} of a message is no whole number: {number!r}")
    return number


def _block_to_json(block: Block) -> Json:
    out: Json = {}
    match block:
        case Text():
            out["type"] = "text"
            _put(out, "text", block.data)
        case Thinking():
            out["type"] = "thinking"
            _put(out, "text", block.data)
            if block.sealed_bytes:
                out["sealed_bytes"] = block.sealed_bytes
        case ToolCall():
            out["type"] = "tool_call"
            for key in ("id", "name", "args"):
                _put(out, key, getattr(block, key))
        case ToolResult():
            out["type"] = "tool_result"
            _put(out, "call_id", block.call_id)
            if block.is_error:
                out["is_error"] = True
            out["content"] = [_block_to_json(part) for part in block.content]
        case Blob():
            out["type"] = "blob"
            _put_blob(out, block)
        case Other():
            out["type"] = "other"
            _put(out, "kind", block.kind)
            _put(out, "text", block.data)
    return out


_BLOB_TEXTS = ("kind", "mime", "name", "sha256", "ref")
_BLOB_NUMBERS = ("width_px", "height_px", "size")


def _put_blob(out: Json, blob: Blob) -> None:
    for key in _BLOB_TEXTS:
        _put(out, key, getattr(blob, key))
    out.update((key, value) for key in _BLOB_NUMBERS if (value := getattr(blob, key)))
    if blob.data is not None:
        out["data_base64"] = base64.b64encode(blob.data).decode()


def _block_from_json(value: Any) -> Block:
    kind = value["type"]
    match kind:
        case "thinking":
            return Thinking(_get_bytes(value, "text"), _number(value, "sealed_bytes"))
        case "tool_call":
            return ToolCall(_get(value, "id"), _get(value, "name"), _get_bytes(value, "args"))
        case "tool_result":
            content = tuple(map(_content_from_json, value["content"]))
            return ToolResult(_get(value, "call_id"), content, value.get("is_error") is True)
        case _:
            return _content_from_json(value)


def _content_from_json(value: Any) -> Content:
    match value["type"]:
        case "text":
            return Text(_get_bytes(value, "text"))
        case "other":
            return Other(_get(value, "kind"), _get_bytes(value, "text"))
        case "blob":
            texts = {key: _get(value, key) for key in _BLOB_TEXTS}
            numbers = {key: _number(value, key) for key in _BLOB_NUMBERS}
            data = _get_bytes(value, "data") if "data_base64" in value else None
            return Blob(**texts, **numbers, data=data)  # type: ignore[arg-type] # by two tables
        case kind:
            raise FormatError(f"unknown block type {kind!r} in a message")


_META_TEXTS = ("id", "time", "model", "stop")
_META_NUMBERS = ("line", "offset")


def _meta_to_json(meta: Meta) -> Json:
    out: Json = {}
    for key in _META_TEXTS:
        _put(out, key, getattr(meta, key))
    out.update((key, value) for key in _META_NUMBERS if (value := getattr(meta, key)))
    if meta.usage is not None:
        out["usage"] = {field.name: getattr(meta.usage, field.name) for field in fields(Usage)}
    return out


def _meta_from_json(value: Json) -> Meta:
    usage = value.get("usage")
    return Meta(
        **{key: _get(value, key) for key in _META_TEXTS},
        usage=None
        if usage is None
        else Usage(**{f.name: _number(usage, f.name) for f in fields(Usage)}),
        line=_number(value, "line"),
        offset=_number(value, "offset"),
    )
