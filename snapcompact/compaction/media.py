"""Images and files put in words, where a request must get smaller or a model reads text only."""

from __future__ import annotations

from dataclasses import replace

from snapcompact.history.model import Blob, Block, Content, Message, Text, ToolResult, wtf8


def attachment_text(blob: Blob) -> str:
    """What stands for a removed attachment: its name, else its media type, else a plain word."""
    name = blob.name or blob.mime or "attachment"
    return f'[attachment "{name}" removed after context overflow]'


def _content(part: Content) -> Content:
    return Text(wtf8(attachment_text(part))) if isinstance(part, Blob) else part


def _block(block: Block) -> Block:
    if isinstance(block, Blob):
        return Text(wtf8(attachment_text(block)))
    if isinstance(block, ToolResult):
        return replace(block, content=tuple(_content(part) for part in block.content))
    return block


def without_media(message: Message) -> Message:
    """`message` with each image and file, those in tool results too, put in words.

    For the request alone: the session keeps them.
    """
    return replace(message, blocks=tuple(_block(block) for block in message.blocks))
