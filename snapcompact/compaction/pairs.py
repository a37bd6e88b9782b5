"""Tool calls and their results, which belong together: no cut may part them.

Which result answers which call is history.pairing's rule; here it becomes borders a cut may use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from snapcompact.compaction.entries import calls_of, results_of
from snapcompact.history.model import (
    Block,
    Content,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.pairing import Pairing

Place = tuple[int, int]
"""Message and block index."""


def _singles(message: Message) -> Iterator[tuple[int, Message]]:
    """`message` in parts of at most one result, each with the index of its first block."""
    if len(results_of(message)) <= 1:
        yield 0, message
        return
    for place, block in enumerate(message.blocks):
        yield place, replace(message, blocks=(block,))


def answers(messages: Sequence[Message]) -> Mapping[Place, Place]:
    """Place of each result that has a call, with the place of that call."""
    pairing = Pairing()
    origin: list[Place] = []
    found: dict[Place, Place] = {}
    for index, message in enumerate(messages):
        for first, part in _singles(message):
            origin.append((index, first))
            answer = pairing.feed(part)
            if answer is None or answer.message < 0:
                continue
            at, shift = origin[answer.message]
            result = next(i for i, b in enumerate(part.blocks) if isinstance(b, ToolResult))
            found[index, first + result] = (at, shift + answer.block)
    return found


def answered_calls(messages: Sequence[Message]) -> Mapping[Place, ToolCall]:
    """The call of each result that has one, by the result's place."""
    calls: dict[Place, ToolCall] = {}
    for result, (index, place) in answers(messages).items():
        block = messages[index].blocks[place]
        if isinstance(block, ToolCall):
            calls[result] = block
    return calls


def call_links(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """For each message, the indexes of the messages whose calls its results answer.

    A result without a call before it has no link (an orphan).
    """
    found: list[set[int]] = [set() for _ in messages]
    for (index, _), (call_index, _) in answers(messages).items():
        found[index].add(call_index)
    return tuple(tuple(sorted(links)) for links in found)


def reach(messages: Sequence[Message]) -> tuple[int, ...]:
    """For each index, the earliest message that anything from there on needs.

    ``reach(m)[i] == i`` says that cutting before message `i` parts no pair; one value more than
    there are messages.
    """
    links = call_links(messages)
    earliest = len(messages)
    found = [earliest]
    for index in range(len(messages) - 1, -1, -1):
        earliest = min(earliest, index, *links[index])
        found.append(earliest)
    return tuple(reversed(found))


def whole_split(messages: Sequence[Message], split: int) -> int:
    """`split`, moved back until no result from there on has its call before it."""
    if not 0 < split < len(messages):
        return split
    needs = reach(messages)
    while needs[split] < split:
        split = needs[split]
    return split


def drop_broken(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`messages` less what a strict provider refuses, judged by place alone.

    A tool message goes unless it follows a calling assistant or another answer to it; a calling
    assistant goes unless a tool message follows. Ids are not compared.
    """
    kept: list[Message] = []
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else None
        if _answers(message):
            if kept and (calls_of(kept[-1]) or _answers(kept[-1])):
                kept.append(message)
        elif not calls_of(message) or (following is not None and _answers(following)):
            kept.append(message)
    return tuple(kept)


def _answers(message: Message) -> bool:
    return message.role is Role.TOOL or bool(results_of(message))


@dataclass(frozen=True, slots=True)
class Repair:
    """Messages a strict provider takes, and how much of them had to be changed."""

    messages: tuple[Message, ...]
    orphans: int = 0
    """Results whose call is not there; they became labelled user text."""
    unanswered: int = 0
    """Calls without a result; a result saying so was added."""


def _orphan_text(result: ToolResult) -> tuple[Content, ...]:
    note = f"[result of a tool call that is not in this context, id {result.call_id or 'none'}]\n"
    return (Text(wtf8(note)), *result.content)


def _no_result(call_id: str) -> Message:
    text = Text(b"[no result of this call was recorded]")
    return Message(Role.TOOL, (ToolResult(call_id, (text,), is_error=True),))


def _named(messages: Sequence[Message], found: Mapping[Place, Place]) -> tuple[Message, ...]:
    """`messages`, calls without an id named, and each result given the id of its call."""
    ids = {
        (index, place): block.id or f"call-{index}-{place}"
        for index, message in enumerate(messages)
        for place, block in enumerate(message.blocks)
        if isinstance(block, ToolCall)
    }

    def named(block: Block, at: Place) -> Block:
        if isinstance(block, ToolCall):
            return replace(block, id=ids[at])
        if isinstance(block, ToolResult) and at in found:
            return replace(block, call_id=ids[found[at]])
        return block

    return tuple(
        replace(
            message,
            blocks=tuple(named(b, (index, place)) for place, b in enumerate(message.blocks)),
        )
        for index, message in enumerate(messages)
    )


def repair(messages: Sequence[Message]) -> Repair:
    """`messages` with every pair whole and nothing said left out.

    Orphan results become user text. A call with no result gets one that says so, unless its message
    is the last, where the result is still to come. Calls without an id get one.
    """
    found = answers(messages)
    answered = set(found.values())
    out: list[Message] = []
    orphans = unanswered = 0
    for index, message in enumerate(_named(messages, found)):
        lost = [
            place
            for place, block in enumerate(message.blocks)
            if isinstance(block, ToolResult) and (index, place) not in found
        ]
        orphans += len(lost)
        out.append(_with_orphans(message, lost) if lost else message)
        if index == len(messages) - 1:
            break
        open_calls = [
            block
            for place, block in enumerate(message.blocks)
            if isinstance(block, ToolCall) and (index, place) not in answered
        ]
        out += [_no_result(call.id) for call in open_calls]
        unanswered += len(open_calls)
    return Repair(tuple(out), orphans, unanswered)


def _with_orphans(message: Message, lost: Sequence[int]) -> Message:
    blocks: list[Block] = []
    for index, block in enumerate(message.blocks):
        if index in lost and isinstance(block, ToolResult):
            blocks += _orphan_text(block)
        else:
            blocks.append(block)
    whole = any(isinstance(block, ToolResult) for block in blocks)
    return replace(message, role=message.role if whole else Role.USER, blocks=tuple(blocks))
