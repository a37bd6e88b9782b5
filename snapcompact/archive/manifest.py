"""The schema of an archive's manifest and rows, as frozen values, checked when read.

FORMAT.md describes the same for people. Reading never trusts a number or name: all are bounded
here before anything is allocated or opened.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import orjson

from snapcompact.archive.names import MOST_PAGES, page_revision, small_file
from snapcompact.errors import ArchiveError, VersionError

FORMAT_VERSION = 1
MOST_MANIFEST_BYTES = 16 << 20
MOST_ROW_BYTES = 64 << 20
"""A message's row holds the ids of its calls; a hostile session can make these long."""
MOST_PAGE_BYTES = 64 << 20
"""A page of 8192 × 8192 px at 4 bits is 32 MiB raw, and PNG cannot be much larger than raw."""
_MOST = 1 << 62


class PageRow(NamedTuple):
    """A page: where it is and what it holds. Offsets are bytes of the transcript."""

    page: int
    file: str
    sha256: str
    """Of the PNG file."""
    size: int
    offset: int
    length: int
    text_sha256: str
    """Of the transcript's bytes printed on it."""
    messages: tuple[int, int]
    """First message on it, and one past the last; a message may begin or end on another page."""
    cells: int
    rows: int
    escapes: int
    """Characters and bytes no glyph stands for, printed as framed numbers."""


class MessageRow(NamedTuple):
    """A message: where it is printed, and what the transcript does not say of it."""

    message: int
    offset: int
    length: int
    role: str
    hash: str
    """First 16 hex digits of the SHA-256 of its transcript bytes."""
    label: str = ""
    id: str = ""
    time: str = ""
    model: str = ""
    stop: str = ""
    usage: tuple[int, int, int, int] | None = None
    """Tokens: input, output, read from cache, written to cache."""
    line: int = 0
    at: int = 0
    """Byte offset of its record in the source."""
    calls: tuple[str, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """Bytes added to the source at one time; the first and last 64 KiB hashed apart."""

    bytes: int
    sha256: str
    head_sha256: str
    tail_sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the archive is and how much of its files counts."""

    options: dict[str, Any]
    """What it was made with: shape, fidelity, format, branch, redaction."""
    session: dict[str, Any]
    """Name and format of the session."""
    font: dict[str, str]
    """Name and SHA-256 of the font."""
    totals: dict[str, int]
    """messages, pages, cells, escapes, transcript_bytes, png_bytes, blobs, blob_bytes."""
    lengths: dict[str, int]
    """Bytes of each growing file that count; what lies behind is no part of the archive."""
    chains: dict[str, str]
    """Chained hash of the rows of pages.jsonl and messages.jsonl (see :func:`chain`)."""
    hashes: dict[str, str]
    """SHA-256 of glyphs.bdf and guide.md."""
    last_page: PageRow | None
    """The row of the last page, which changes when the history grows; pages.jsonl has the rest."""
    last_message: MessageRow | None = None
    """The row of the last message, which grows while its answer is still coming in."""
    source: tuple[SourceSegment, ...] = ()
    losses: dict[str, int] = field(default_factory=dict)
    damage: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    resume: dict[str, Any] = field(default_factory=dict)
    """Where reading goes on when the source has grown (``history/resume.py``)."""
    tool: str = ""
    snapcompact: int = FORMAT_VERSION
    intact: bool = True
    """Whether the file is as it was written, by the seal at its end."""

    def small_file(self, name: str) -> str | None:
        """The path in force of ``glyphs.bdf``, ``guide.md`` or ``sidecar.txt``; None if absent."""
        return next((p for p in self.hashes if (small_file(p) or ("", 0))[0] == name), None)

    @property
    def pages(self) -> int:
        """Number of pages."""
        return self.totals["pages"]

    @property
    def messages(self) -> int:
        """Number of messages."""
        return self.totals["messages"]

    @property
    def transcript_bytes(self) -> int:
        """Length of the transcript."""
        return self.totals["transcript_bytes"]


CHAIN_START = hashlib.sha256(b"").hexdigest()


def chain(previous: str, line: bytes) -> str:
    """The chained hash behind one more `line` (with its LF): SHA-256 of both, as hex."""
    return hashlib.sha256(previous.encode() + line).hexdigest()


def dump_row(row: PageRow | MessageRow) -> bytes:
    """A row as one line of JSON, its empty fields left out, with LF."""
    return dump_fields(_kept(row))


def dump_fields(kept: dict[str, Any]) -> bytes:
    """The fields of a row as one line of JSON, with LF."""
    try:
        return orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # an id with a lone surrogate, which only the standard library escapes
        return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def _kept(row: PageRow | MessageRow) -> dict[str, Any]:
    return {k: v for k, v in zip(row._fields, row, strict=True) if v or type(v) is int}


def dump_manifest(manifest: Manifest) -> bytes:
    """The manifest as indented JSON, the format's version first, its seal last."""
    values = asdict(manifest)
    del values["intact"]
    for name, row in (("last_page", manifest.last_page), ("last_message", manifest.last_message)):
        values[name] = None if row is None else _kept(row)
    ordered = {"snapcompact": values.pop("snapcompact"), "tool": values.pop("tool"), **values}
    kept = {k: v for k, v in ordered.items() if v not in ({}, (), [], None)}
    try:
        body = orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # see dump_row
        body = json.dumps(kept, indent=2).encode() + b"\n"
    seal = hashlib.sha256(body).hexdigest().encode()
    return body.removesuffix(_END) + _SEAL + seal + b'"' + _END


_END = b"\n}\n"
_SEAL = b',\n  "seal": "'


def _is_intact(data: bytes) -> bool:
    """Whether the seal of a manifest's bytes is the hash of the bytes without it."""
    body, found, seal = data.rpartition(_SEAL)
    written = hashlib.sha256(body + _END).hexdigest().encode() + b'"' + _END
    return bool(found) and seal == written


def load_manifest(data: bytes, where: str) -> Manifest:
    """The manifest in `data`; ArchiveError or VersionError names `where` and what is wrong."""
    raw = _json_object(data, where)
    version = raw.get("snapcompact")
    if type(version) is not int or version < 1:
        raise ArchiveError(f"{where}: not a snapcompact manifest (no format version)")
    if version > FORMAT_VERSION:
        raise VersionError(
            f"{where}: format version {version} is newer than this tool reads "
            f"({FORMAT_VERSION}); update snapcompact"
        )
    check = _Check(where, raw)
    last = raw.get("last_page")
    manifest = Manifest(
        options=check.table("options"),
        session=check.table("session"),
        font=check.table("font", str),
        totals=check.table("totals", int),
        lengths=check.table("lengths", int),
        chains=check.table("chains", str),
        hashes=check.table("hashes", str),
        last_page=None if last is None else _page_row(last, f"{where}: last_page"),
        last_message=_message_row(raw.get("last_message"), f"{where}: last_message"),
        source=tuple(_segment(s, f"{where}: source") for s in check.list("source")),
        losses=check.table("losses", int),
        damage=check.table("damage", int),
        skipped=check.table("skipped", int),
        times=check.table("times", str),
        resume=check.table("resume"),
        tool=str(raw.get("tool", ""))[:64],
        intact=_is_intact(data),
    )
    _check_totals(manifest, where)
    return manifest


def load_page_row(line: bytes, where: str) -> PageRow:
    """The page row in `line`."""
    return _page_row(_json_object(line, where), where)


def load_message_row(line: bytes, where: str) -> MessageRow:
    """The message row in `line`."""
    row = _message_row(_json_object(line, where), where)
    assert row is not None
    return row


def _message_row(raw: object, where: str) -> MessageRow | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise ArchiveError(f"{where}: a message's row must be an object, found {str(raw)[:80]}")
    check = _Check(where, raw)
    usage = check.raw.get("usage")
    return MessageRow(
        message=check.count("message"),
        offset=check.count("offset"),
        length=check.count("length"),
        role=check.text("role"),
        hash=check.text("hash"),
        **{k: check.text(k) for k in ("label", "id", "time", "model", "stop", "call_id")},
        usage=None if usage is None else _four(usage, where),
        line=check.count("line"),
        at=check.count("at"),
        calls=tuple(str(item) for item in check.list("calls")),
    )


def _four(values: object, where: str) -> tuple[int, int, int, int]:
    if isinstance(values, list) and len(values) == 4 and all(_is_count(v) for v in values):
        return values[0], values[1], values[2], values[3]
    raise ArchiveError(f"{where}: usage must be four counts, found {str(values)[:80]}")


def _page_row(raw: object, where: str) -> PageRow:
    if not isinstance(raw, dict):
        raise ArchiveError(f"{where}: a page's row must be an object, found {str(raw)[:80]}")
    check = _Check(where, raw)
    number = check.count("page")
    if not 1 <= number <= MOST_PAGES:
        raise ArchiveError(f"{where}: page number {number} is out of range")
    path = check.text("file")
    page_revision(path, number)
    size = check.count("size")
    if size > MOST_PAGE_BYTES:
        raise ArchiveError(f"{where}: page {number} claims {size} bytes, more than any page has")
    span = raw.get("messages")
    if not (isinstance(span, list) and len(span) == 2 and all(_is_count(v) for v in span)):
        raise ArchiveError(f"{where}: page {number}: messages must be two counts")
    return PageRow(
        page=number,
        file=path,
        sha256=check.text("sha256"),
        size=size,
        offset=check.count("offset"),
        length=check.count("length"),
        text_sha256=check.text("text_sha256"),
        messages=(span[0], span[1]),
        cells=check.count("cells"),
        rows=check.count("rows"),
        escapes=check.count("escapes"),
    )


def _segment(raw: object, where: str) -> SourceSegment:
    if not isinstance(raw, dict):
        raise ArchiveError(f"{where}: a segment must be an object, found {str(raw)[:80]}")
    check = _Check(where, raw)
    return SourceSegment(
        check.count("bytes"),
        check.text("sha256"),
        check.text("head_sha256"),
        check.text("tail_sha256"),
    )


def _check_totals(manifest: Manifest, where: str) -> None:
    for key in ("messages", "pages", "transcript_bytes"):
        if key not in manifest.totals:
            raise ArchiveError(f"{where}: totals lack {key}")
    if (manifest.last_page is None) != (manifest.pages == 0):
        raise ArchiveError(f"{where}: {manifest.pages} pages, but the last page's row disagrees")
    last = manifest.last_page
    if last is not None and (
        last.page != manifest.pages or last.offset + last.length != manifest.transcript_bytes
    ):
        raise ArchiveError(
            f"{where}: the last page is {last.page} of {manifest.pages} and ends at "
            f"{last.offset + last.length} of {manifest.transcript_bytes} bytes"
        )
    final = manifest.last_message
    if (final is None) != (manifest.messages == 0):
        raise ArchiveError(
            f"{where}: {manifest.messages} messages, but the last one's row disagrees"
        )
    if final is not None and (
        final.message + 1 != manifest.messages
        or final.offset + final.length != manifest.transcript_bytes
    ):
        raise ArchiveError(
            f"{where}: the last message is {final.message} of {manifest.messages} and ends at "
            f"{final.offset + final.length} of {manifest.transcript_bytes} bytes"
        )


def _json_object(data: bytes, where: str) -> dict[str, Any]:
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            raw = json.loads(data)
        except (ValueError, RecursionError) as exc:
            raise ArchiveError(f"{where}: not JSON: {exc}") from exc
    if not isinstance(raw, dict):
        raise ArchiveError(f"{where}: expected a JSON object, found {str(raw)[:80]}")
    return raw


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


class _Check:
    """Typed, bounded fields of a JSON object; a missing one is empty."""

    def __init__(self, where: str, raw: dict[str, Any]) -> None:
        self.where = where
        self.raw = raw

    def count(self, key: str) -> int:
        value = self.raw.get(key, 0)
        if not _is_count(value):
            raise ArchiveError(f"{self.where}: {key} must be a count, found {str(value)[:80]}")
        return int(value)

    def text(self, key: str) -> str:
        value = self.raw.get(key, "")
        if not isinstance(value, str):
            raise ArchiveError(f"{self.where}: {key} must be text, found {str(value)[:80]}")
        return value

    def list(self, key: str) -> list[Any]:
        value = self.raw.get(key, [])
        if not isinstance(value, list):
            raise ArchiveError(f"{self.where}: {key} must be a list, found {str(value)[:80]}")
        return value

    def table(self, key: str, of: type | None = None) -> dict[str, Any]:
        value = self.raw.get(key, {})
        if not isinstance(value, dict):
            raise ArchiveError(f"{self.where}: {key} must be an object, found {str(value)[:80]}")
        for name, item in value.items():
            if (of is int and not _is_count(item)) or (of is str and not isinstance(item, str)):
                raise ArchiveError(f"{self.where}: {key}.{name} is {str(item)[:80]}")
        return value
