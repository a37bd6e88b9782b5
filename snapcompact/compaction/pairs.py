"""Tool calls and their results, which belong together: no cut may part them.

Ids repeat in real sessions (a counter restarts each turn, two parallel calls share one), so a
result belongs to the *nearest earlier* message that made a call of its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from snapcompact.compaction.entries import calls_of, results_of
from snapcompact.history.model import Block, Content, Message, Role, Text, ToolResult, wtf8


def call_links(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """For each message, the indexes of the messages whose calls its results answer.

    A result without a call before it has no link (an orphan).
    """
    newest: dict[str, int] = {}
    links: list[tuple[int, ...]] = []
    for index, message in enumerate(messages):
        found = {newest[r.call_id] for r in results_of(message) if r.call_id in newest}
        links.append(tuple(sorted(found)))
        newest.update((call.id, index) for call in calls_of(message))
    return tuple(links)


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


def repair(messages: Sequence[Message]) -> Repair:
    """`messages` with every pair whole and nothing said left out.

    Orphan results become user text. A call with no result gets one that says so, unless its message
    is the last, where the result is still to come.
    """
    links = call_links(messages)
    answered = {(link, r.call_id) for i, m in enumerate(messages) for link in links[i]
                for r in results_of(m)}
    out: list[Message] = []
    orphans = unanswered = 0
    for index, message in enumerate(messages):
        if results_of(message) and not links[index]:
            blocks: list[Block] = []
            for block in message.blocks:
                blocks += _orphan_text(block) if isinstance(block, ToolResult) else (block,)
                orphans += isinstance(block, ToolResult)
            out.append(replace(message, role=Role.USER, blocks=tuple(blocks)))
            continue
        out.append(message)
        if index < len(messages) - 1:
            ids = dict.fromkeys(call.id for call in calls_of(message))
            open_ids = [call_id for call_id in ids if (index, call_id) not in answered]
            out += [_no_result(call_id) for call_id in open_ids]
            unanswered += len(open_ids)
    return Repair(tuple(out), orphans, unanswered)
