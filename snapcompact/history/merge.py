"""Answers that a tool records in several parts, one block each, put together again.

Parts that follow each other directly and share the answer's id become one message; parts with a
result between them stay apart, so that a history's prefix is a prefix: only its last message grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from snapcompact.history.model import Message, Role, Usage


def merged(messages: Iterable[Message]) -> Iterator[Message]:
    """`messages` with the parts of one answer joined; usage is of the part that billed most."""
    held: list[Message] = []
    for message in messages:
        if held and not _same_answer(held[-1], message):
            yield _joined(held)
            held = []
        held.append(message)
    if held:
        yield _joined(held)


def _same_answer(before: Message, after: Message) -> bool:
    return (
        before.role is after.role is Role.ASSISTANT
        and before.meta.id != ""
        and before.meta.id == after.meta.id
        and before.label == after.label
    )


def _joined(parts: list[Message]) -> Message:
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0].meta, parts[-1].meta
    usages = [part.meta.usage for part in parts if part.meta.usage is not None]
    usage = max(usages, key=_output, default=None)
    meta = first._replace(
        usage=usage, stop=last.stop or first.stop, model=first.model or last.model
    )
    blocks = tuple([block for part in parts for block in part.blocks])
    return Message(parts[0].role, blocks, parts[0].label, meta)


def _output(usage: Usage) -> tuple[int, int]:
    return usage.output, usage.total
