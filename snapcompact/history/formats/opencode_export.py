"""``opencode export``: one session as ``{info, messages: [{info, parts}]}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blocks import Json, json_of, text_of
from snapcompact.history.documents import document
from snapcompact.history.model import Message, Meta, Role, Text, wtf8
from snapcompact.history.opencode import facts, message, reverted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source


def sniff(head: Head) -> bool:
    """An object with ``info`` and a list of messages that have ``info`` too."""
    whole = json_of(head.document)
    listed = whole.get("messages")
    return (
        isinstance(whole.get("info"), dict)
        and isinstance(listed, list)
        and all(isinstance(json_of(item).get("info"), dict) for item in listed)
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in the order of the file."""
    whole = document(source, report)
    value = json_of(whole.value if whole is not None else None)
    listed = value.get("messages")
    pairs = (
        (json_of(json_of(item).get("info")), json_of(item).get("parts"))
        for item in (listed if isinstance(listed, list) else [])
    )
    yield from session(json_of(value.get("info")), pairs, options, report)


def session(
    info: Json, pairs: Iterable[tuple[Json, Any]], options: Options, report: Report
) -> Iterator[Message]:
    """The messages of one session from (info, parts) in order.

    What a rewind left stands behind a note, and only where `options` asks for more than the active
    branch.
    """
    facts(info, report)
    rewound, hidden = reverted(info), False
    for about, parts in pairs:
        if rewound and text_of(about.get("id")) == rewound:
            hidden = True
            report.branches.append(rewound)
            if options.branch != "active":
                words = f"rewound to before {rewound}; what follows was left"
                yield Message(Role.NOTE, (Text(wtf8(words)),), "branch", Meta(id=rewound))
        if hidden and options.branch == "active":
            report.skipped["message left by a rewind"] += 1
            continue
        yield from message(about, parts if isinstance(parts, list) else [], report)
