"""The seeds' compact notation of texts, messages and entries, as values of the engine.

See vectors' README: n tokens are 4*n characters, entries are children of the one before, and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from snapcompact.compaction.entries import (
    BASH,
    BRANCH_SUMMARY,
    CUSTOM,
    SUMMARY,
    Entry,
    Files,
    Item,
    Kind,
    Mark,
    summary_message,
)
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    wtf8,
)

Json = Any
START_MS = 1_700_000_000_000


def compact_json(value: Json) -> bytes:
    return wtf8(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def text_of(spec: Mapping[str, Json], key: str = "text", number: int = 0) -> str:
    """The text a spec describes: itself, segments, a repeat, tokens or chars, in this order."""
    if key in spec:
        text = str(spec[key])
    elif f"{key}_segments" in spec:
        text = "".join(part * times for part, times in spec[f"{key}_segments"])
    elif f"{key}_repeat" in spec:
        part, times = spec[f"{key}_repeat"]
        text = part * times
    elif "tokens" in spec:
        text = "x" * (4 * spec["tokens"])
    elif "chars" in spec:
        text = "x" * spec["chars"]
    else:
        text = ""
    return text.replace("{i}", str(number)) + str(spec.get("suffix", ""))


def repeated(spec: str) -> str:
    """``x*400`` as 400 x's; anything else as it stands."""
    found = re.fullmatch(r"(.)\*(\d+)", spec)
    return found[1] * int(found[2]) if found else spec


def usage_of(spec: Json) -> tuple[Usage | None, int]:
    """(usage, the provider's own total)."""
    if spec is None:
        return None, 0
    if isinstance(spec, int):
        return Usage(input=spec), 0
    usage = Usage(
        spec.get("input", 0), spec.get("output", 0), spec.get("cacheRead", 0),
        spec.get("cacheWrite", 0),
    )  # fmt: skip
    return usage, spec.get("totalTokens") or 0


def call_of(spec: Mapping[str, Json]) -> ToolCall:
    return ToolCall(str(spec["id"]), spec["name"], compact_json(spec.get("args", {})))


def _user(spec: Mapping[str, Json], number: int) -> Message:
    images = tuple(Blob("image") for _ in range(spec.get("images", 0)))
    return Message(Role.USER, (Text(wtf8(text_of(spec, number=number))), *images))


def _assistant(spec: Mapping[str, Json], number: int, model: str) -> Message:
    blocks: list[Block] = []
    if spec.get("thinking"):
        blocks.append(Thinking(wtf8(spec["thinking"])))
    text = text_of(spec, number=number)
    if text:
        blocks.append(Text(wtf8(text)))
    blocks += [call_of(call) for call in spec.get("calls", ())]
    stop = spec.get("stop", "stop")
    stop = f"error: {spec['error']}" if spec.get("error") and stop == "error" else stop
    usage, _ = usage_of(spec.get("usage"))
    meta = Meta(stop=stop, usage=usage, model=spec.get("model", model))
    return Message(Role.ASSISTANT, tuple(blocks), meta=meta)


def _result(spec: Mapping[str, Json], number: int) -> Message:
    images = tuple(Blob("image") for _ in range(spec.get("images", 0)))
    text = Text(wtf8(text_of(spec, number=number)))
    result = ToolResult(
        str(spec.get("call", f"none{number}")), (text, *images), bool(spec.get("isError"))
    )
    return Message(Role.TOOL, (result,))


def _bash(spec: Mapping[str, Json], number: int) -> Message:
    blocks: list[Block] = [
        Text(wtf8(spec.get("command", ""))), Text(wtf8(text_of(spec, number=number))),
    ]  # fmt: skip
    if spec.get("exitCode"):
        blocks.append(Other("exit", str(spec["exitCode"]).encode()))
    return Message(Role.USER, tuple(blocks), BASH)


def message_of(spec: Mapping[str, Json], number: int = 0, model: str = "m") -> Message:
    """The message of a compact entry of a message kind."""
    kind = spec["kind"]
    if kind == "assistant":
        return _assistant(spec, number, model)
    if kind == "custom_message":
        return Message(Role.USER, (Text(wtf8(text_of(spec, number=number))),), CUSTOM)
    made = {"user": _user, "toolResult": _result, "bash": _bash}
    return made[kind](spec, number)


_KINDS = {
    "user": Kind.MESSAGE, "assistant": Kind.MESSAGE, "toolResult": Kind.MESSAGE,
    "bash": Kind.MESSAGE, "custom_message": Kind.CUSTOM, "compaction": Kind.COMPACTION,
    "branch_summary": Kind.BRANCH, "model_change": Kind.MODEL,
    "thinking_level_change": Kind.THINKING, "reset_boundary": Kind.RESET,
}  # fmt: skip


def _mark(spec: Mapping[str, Json]) -> Mark:
    details = spec.get("details") or {}
    files = Files(tuple(details.get("readFiles", ())), tuple(details.get("modifiedFiles", ())))
    return Mark(
        text_of(spec, "summary"), spec.get("firstKept", ""), files, bool(spec.get("fromHook"))
    )


def _entry_message(spec: Mapping[str, Json], number: int, model: str) -> Message | None:
    kind = _KINDS.get(spec["kind"], Kind.META)
    if kind in (Kind.MESSAGE, Kind.CUSTOM):
        return message_of(spec, number, model)
    if kind is Kind.BRANCH:
        return summary_message(text_of(spec, "summary"), label=BRANCH_SUMMARY)
    if kind is Kind.COMPACTION:
        return summary_message(text_of(spec, "summary"), label=SUMMARY)
    return None


def entry_of(
    spec: Mapping[str, Json], number: int, parent: str | None, model: tuple[str, str] = ("p", "m")
) -> Entry:
    """One entry of a list."""
    kind = _KINDS.get(spec["kind"], Kind.META)
    tools = {}
    if spec["kind"] == "toolResult":
        tools[str(spec.get("call", f"none{number}"))] = spec.get("tool", "read")
    value = (
        spec.get("level") or spec.get("thinkingLevel", "")
        if kind is Kind.THINKING
        else spec.get("model", "")
    )
    return Entry(
        id=spec.get("id", f"e{number}"),
        kind=kind,
        message=_entry_message(spec, number, model[1]),
        parent=spec.get("parent", parent),
        mark=_mark(spec) if kind in (Kind.COMPACTION, Kind.BRANCH) else None,
        time_ms=spec.get("at", START_MS + 1000 * number),
        provider=spec.get("provider", model[0]),
        value=value or spec.get("modelId", ""),
        reported_total=usage_of(spec.get("usage"))[1],
        useless=bool(spec.get("useless")),
        tools=tools,
    )


def entries_of(
    specs: Sequence[Mapping[str, Json]], model: tuple[str, str] = ("p", "m")
) -> tuple[Entry, ...]:
    """Entries in file order, each the child of the one before unless it says otherwise."""
    entries: list[Entry] = []
    for number, spec in enumerate(specs):
        parent = entries[-1].id if entries else None
        entries.append(entry_of(spec, number, parent, model))
    return tuple(entries)


def items_of(entries: Sequence[Entry]) -> tuple[Item, ...]:
    return tuple(Item(entry, entry.message) for entry in entries if entry.message)


def plain_items(messages: Sequence[Message]) -> tuple[Item, ...]:
    """Items with ids e0, e1, … around bare messages."""
    return tuple(
        Item(Entry(f"e{index}", Kind.MESSAGE, message), message)
        for index, message in enumerate(messages)
    )


def name_of(item: Item) -> str:
    """How a vector names an item: its id, or ``summary(id)``."""
    return f"summary({item.id})" if item.message.label == SUMMARY else item.id


_LOG = re.compile(r"(?P<name>[A-Za-z_]+\d*)(?:\((?P<note>[^)]*)\))?|\((?P<aside>[^)]*)\)")


def log_entries(log: str) -> tuple[Entry, ...]:
    """Entries of a one-line log such as ``u1 a1 C1(kept u1) u2``.

    u, m, b are user messages, a answers, C compactions, ``reset…`` a reset; a note in brackets
    names the first kept entry (``first_kept=m3``, ``kept u2``) or the parent (``fork of m1``).
    """
    entries: list[Entry] = []
    tip: str | None = None
    specs = [match for match in _LOG.finditer(re.sub(r"\s+\(", "(", log)) if match["name"]]
    for match in specs:
        name, note = match["name"], match["note"] or ""
        parent, fork = tip, re.search(r"fork of (\w+)", note)
        if fork:
            parent = fork[1]
        kept = re.search(r"(?:first_kept=|kept )(\w+)", note)
        if name.startswith("C"):
            mark = Mark(f"S{name[1:]}", kept[1] if kept else "")
            entry = Entry(name, Kind.COMPACTION, None, parent, mark)
        elif name.startswith("reset"):
            entry = Entry(name, Kind.RESET, None, parent)
        else:
            role = Role.ASSISTANT if name.startswith("a") else Role.USER
            entry = Entry(name, Kind.MESSAGE, Message(role, (Text(b"xxxx"),)), parent)
        entries.append(entry)
        if "abandoned" not in note:
            tip = name
    return tuple(entries)
