"""The work of ``snapcompact inspect``: one reading of the session, all counted on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from snapcompact.cli.console import printable, progress, say, say_json, size, warn
from snapcompact.history.model import Message
from snapcompact.history.report import DAMAGE
from snapcompact.history.session import Session, open_session
from snapcompact.history.survey import Survey
from snapcompact.tokens.estimate import DEFAULT_FAMILY, estimate_stream, stated_errors
from snapcompact.transcript.redact import SecretCounter
from snapcompact.transcript.write import write_transcript

_FIGURES = (
    *("results", "errors", "orphans", "unanswered", "images", "files", "blob_bytes"),
    *("without_bytes", "thinking", "sealed", "text_bytes"),
)

LISTED = 12
"""Rows of a list that are printed; ``--json`` has all."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What to look at."""

    session: str
    format_name: str | None = None
    branch: str = "active"
    select: str = ""
    strict: bool = False


def run_inspect(request: Inspection, *, as_json: bool, quiet: bool) -> None:
    """Print what the session holds."""
    with open_session(
        request.session if request.session == "-" else Path(request.session),
        format=request.format_name,
        branch=request.branch,
        select=request.select,
        strict=request.strict,
    ) as session:
        found = look(session, quiet=quiet)
    if as_json:
        say_json(found)
        return
    _print(found)
    if found["secrets"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["secrets"].items())
        warn(f"something looks like a secret ({kinds}); --redact takes it out", quiet=quiet)


def look(session: Session, *, quiet: bool = True) -> dict[str, Any]:
    """All that is known of `session`, as JSON values."""
    survey, secrets = Survey(), SecretCounter()

    def watched() -> Iterator[Message]:
        with progress("Reading", "messages", quiet=quiet) as bar:
            for message in survey.watch(session.messages()):
                secrets.add(message)
                bar.advance()
                yield message

    tokens = estimate_stream(write_transcript(watched()))
    conversations = session.conversations
    return {
        "session": session.source.name,
        "bytes": session.source.size(),
        "format": session.format.name,
        **_report(session),
        "conversations": [asdict(about) for about in conversations],
        "messages": sum(survey.messages.values()),
        "by_role": dict(survey.messages),
        "by_label": dict(survey.labels.most_common()),
        "tool_calls": sum(survey.tools.values()),
        "by_tool": dict(survey.tools.most_common()),
        **{key: getattr(survey, key) for key in _FIGURES},
        "models": dict(survey.models.most_common()),
        "first_time": survey.first_time,
        "last_time": survey.last_time,
        "tokens": tokens,
        "tokens_family": DEFAULT_FAMILY,
        "tokens_error": asdict(stated_errors()),
        "recorded_answers": survey.answers,
        "recorded_usage": asdict(survey.usage),
        "secrets": dict(secrets.counts),
    }


def _report(session: Session) -> dict[str, Any]:
    report = session.report
    return {
        "info": dict(report.info),
        "branches": list(report.branches),
        "damage": {
            kind: {"count": count, "lines": report.damage.lines.get(kind, []), "what": DAMAGE[kind]}
            for kind, count in report.damage.counts.items()
        },
        "skipped": dict(report.skipped),
        "duplicates": dict(report.duplicates),
        "notes": list(report.notes),
    }


def _print(found: Mapping[str, Any]) -> None:
    rows = [
        ("session", f"{found['session']} ({size(found['bytes'])})"),
        ("format", found["format"]),
        *((key, value) for key, value in found["info"].items()),
        ("times", " to ".join(filter(None, (found["first_time"], found["last_time"])))),
        ("messages", f"{found['messages']:,} ({_counts(found['by_role'])})"),
        ("labelled", _counts(found["by_label"])),
        ("tool calls", _with_counts(found["tool_calls"], found["by_tool"])),
        ("results", _results(found)),
        ("thinking", _with_counts(found["thinking"], {"sealed": found["sealed"]})),
        ("images", _blobs(found)),
        ("models", _counts(found["models"])),
        ("text", size(found["text_bytes"])),
        ("tokens", f"about {found['tokens']:,} ({found['tokens_family']}, the transcript as text)"),
        ("recorded", _usage(found)),
        ("branches", _names(found["branches"])),
        ("conversations", _conversations(found["conversations"])),
        ("damage", "; ".join(map(_damage, found["damage"].values()))),
        ("duplicates", _counts(found["duplicates"])),
        ("skipped", _counts(found["skipped"])),
        ("secrets", _counts(found["secrets"])),
        *(("note", remark) for remark in found["notes"]),
    ]
    for name, text in rows:
        if text:
            say(f"{printable(name):<13} {printable(text)}")


def _counts(counts: Mapping[str, int]) -> str:
    listed = Counter(counts).most_common(LISTED)
    more = len(counts) - len(listed)
    words = [f"{count:,} {name}" for name, count in listed if count]
    return ", ".join([*words, f"and {more:,} more"] if more else words)


def _with_counts(total: int, parts: Mapping[str, int]) -> str:
    words = _counts(parts)
    return "" if not total else f"{total:,} ({words})" if words else f"{total:,}"


def _results(found: Mapping[str, Any]) -> str:
    facts = {key: found[key] for key in ("errors", "orphans")}
    if found["unanswered"]:
        facts["calls without a result"] = found["unanswered"]
    return _with_counts(found["results"], facts) or _counts(facts)


def _blobs(found: Mapping[str, Any]) -> str:
    if not found["images"] + found["files"]:
        return ""
    missing = f", {found['without_bytes']:,} without bytes" if found["without_bytes"] else ""
    held = size(found["blob_bytes"])
    return f"{found['images']:,}, and {found['files']:,} files ({held}{missing})"


def _usage(found: Mapping[str, Any]) -> str:
    if not found["recorded_answers"]:
        return ""
    words = ", ".join(
        f"{count:,} {kind}" for kind, count in found["recorded_usage"].items() if count
    )
    return f"{words} tokens in {found['recorded_answers']:,} answers"


def _names(names: list[str]) -> str:
    more = f", and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"{len(names):,} left: {', '.join(names[:LISTED])}{more}" if names else ""


def _conversations(listed: list[dict[str, str]]) -> str:
    if not listed:
        return ""
    names = [f"{about['id']} {about['title']}".strip() for about in listed[:LISTED]]
    more = f"; and {len(listed) - LISTED:,} more" if len(listed) > LISTED else ""
    return f"{len(listed):,} (--select ID): {'; '.join(names)}{more}"


def _damage(one: Mapping[str, Any]) -> str:
    lines = ", ".join(map(str, one["lines"]))
    more = " …" if one["count"] > len(one["lines"]) else ""
    return f"{one['count']:,} × {one['what']} (line {lines}{more})"
