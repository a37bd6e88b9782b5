"""A compacted session written beside its input or in its place, checked.

What was written is read again as its tool would read it before it gets its name: the summary must
be there, and exactly what was to be kept (invariant 9 of DESIGN.md).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.compaction.context import Context, ContextRules, build_context
from snapcompact.compaction.entries import BRANCH_SUMMARY, is_summary, words_of
from snapcompact.compaction.undo import back_up, backup_path, fingerprint, note_undo, real_path
from snapcompact.compaction.writers import appends, keeps_format, writer_for
from snapcompact.errors import InputError, OutputExistsError, UsageError
from snapcompact.files import disk_errors, sync_folder
from snapcompact.history.model import Message, Role, shown
from snapcompact.history.session import open_session

if TYPE_CHECKING:
    from snapcompact.compaction.writers.contract import Change, Stored
    from snapcompact.history.session import Session

_PACKED = (".gz", ".zst")


def load_stored(session: Session) -> Stored:
    """`session` as its format's writer sees it. Raises InputError, DiskError."""
    path = session.source.path
    digest = fingerprint(path) if path is not None else ""
    return replace(writer_for(session.format.name).load(session), digest=digest)


def context_of(stored: Stored, rules: ContextRules) -> Context:
    """The effective context of a session."""
    return build_context(stored.entries, rules)


def default_output(path: Path, format_name: str) -> Path:
    """``SESSION.compacted.EXT`` beside `path`; ``.json`` where the format is not kept."""
    name = path.name
    while name.endswith(_PACKED):
        name = name[: name.rindex(".")]
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        stem, extension = name, "jsonl"
    extension = extension if keeps_format(format_name) else "json"
    return path.with_name(f"{stem}.compacted.{extension}")


def check_one(session: Session, *, in_place: bool) -> None:
    """Raise UsageError where `session` is several conversations, or would take others' place."""
    found = session.conversations
    name = session.source.name
    if len(found) > 1 and not session.options.select:
        raise UsageError(
            f"{name} holds {len(found):,} conversations; name one by --select ID "
            f"(`snapcompact inspect` lists them; the first is {shown(found[0].id.encode())})"
        )
    if len(found) > 1 and in_place:
        raise UsageError(f"{name} holds other conversations too; write to another file with -o")


def whole_name(stored: Stored, *, in_place: bool) -> str:
    """Name of the file that still holds every entry once `stored` is compacted.

    A writer that makes the file anew leaves what it cut out in the backup only.
    """
    path = stored.session.source.path
    if path is None or not in_place or appends(stored.session.format.name):
        return os.path.basename(stored.session.source.name)
    return backup_path(real_path(path), stored.digest).name


def archive_name(out: Path) -> Path:
    """A free name for the archive that goes with the session `out`: ``NAME.archive``, numbered."""
    stem = out.name.rpartition(".")[0] or out.name
    number, path = 1, out.with_name(f"{stem}.archive")
    while os.path.lexists(path):
        number += 1
        path = out.with_name(f"{stem}.archive-{number}")
    return path


@dataclass(frozen=True, slots=True)
class Written:
    """Where a compacted session is; `backup` is the file from before, where it took its place."""

    path: Path
    bytes: int
    backup: Path | None = None


def write_session(
    stored: Stored, change: Change, out: Path, rules: ContextRules, *, in_place: bool = False
) -> Written:
    """Write `change` as `out`, whole or not at all, once it reads back as decided.

    With `in_place` `out` is the session's own file, or a link to it: what it held is kept beside
    it for ``undo.undo``, and its permissions stay. Raises OutputExistsError, InputError where the
    file does not read back, where it changed while we worked, DiskError.
    """
    if in_place:
        out = real_path(out)
    elif os.path.lexists(out):
        raise OutputExistsError(f"{out} already exists; give another name with -o")
    if in_place and _is_packed(out):
        raise UsageError(f"{out} is compressed; unpack it, or give another name with -o")
    with _staged(out) as partial:
        size = _fill(partial, stored, change)
        _check(partial, stored, change, rules)
        if not in_place and os.path.lexists(out):
            raise OutputExistsError(f"{out} was made by another while we worked")
        source = stored.session.source.path
        if source is not None and fingerprint(source) != stored.digest:
            raise InputError(f"{source} changed while it was compacted; nothing was written")
        backup = back_up(out, stored.digest) if in_place else None
        if backup is not None:
            note_undo(out, backup, stored.digest, fingerprint(partial))
        with disk_errors("write", out):
            if in_place:
                shutil.copymode(out, partial)
            os.replace(partial, out)
            sync_folder(out.parent)
    return Written(out, size, backup)


def _is_packed(path: Path) -> bool:
    """True for a gzip or zstd file, told by its first bytes."""
    with disk_errors("read", path), open(path, "rb") as file:
        return file.read(4).startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))


@contextmanager
def _staged(out: Path) -> Iterator[Path]:
    """An empty private file beside `out`, gone at the end unless it was renamed."""
    with disk_errors("write", out):
        descriptor, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        os.close(descriptor)
    partial = Path(name)
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def _fill(partial: Path, stored: Stored, change: Change) -> int:
    """Bytes of the new session written to `partial`, synced."""
    size = 0
    with disk_errors("write", partial), open(partial, "wb") as file:
        for piece in writer_for(stored.session.format.name).write(stored, change):
            size += len(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return size


# --- what was written reads back


def _check(path: Path, stored: Stored, change: Change, rules: ContextRules) -> None:
    """Raise InputError where the file at `path` does not hold what was decided."""
    kept_format = keeps_format(stored.session.format.name)
    name = stored.session.format.name if kept_format else "openai_chat"
    with open_session(path, format=name) as session:
        new = load_stored(session)
    items = context_of(new, rules).items
    parts = (*change.partition.before, *change.shown)
    wanted = [change.edited.get(item.id, item.message) for item in parts]
    found = [item.message for item in items if not is_summary(item.message)]
    said = [item.message.text for item in items if is_summary(item.message)]
    ours = [message for message in found if _is_ours(message, change)]
    if not any(change.summary in text for text in (*said, *(m.text for m in ours))):
        raise InputError(
            f"{stored.session.source.name}: the summary does not read back; not written"
        )
    rest = [message for message in found if not any(message is one for one in ours)]
    if change.native:  # in front of the kept stand what the provider left of the user's words
        rest = rest[len(rest) - len(wanted) :]
    fits = _same_messages(rest, wanted) if kept_format else _same_words(rest, wanted)
    if not fits or len(ours) > 1:
        raise InputError(
            f"{stored.session.source.name}: {len(wanted)} messages were to be kept, {len(rest)} "
            "read back; nothing was written. Please report this kind of session"
        )


def _is_ours(message: Message, change: Change) -> bool:
    """True for a message beside the summary that we wrote: the pages, or a branch's summary."""
    first = next((piece for piece in change.pieces if isinstance(piece, str)), "")
    if message.role is not Role.USER:
        return False
    branch = message.label == BRANCH_SUMMARY and message.text == change.summary
    return branch or bool(first and message.text.startswith(first))


def _same_messages(found: Sequence[Message], wanted: Sequence[Message]) -> bool:
    """Whether both say the same, block by block."""
    return [(m.role, m.blocks) for m in found] == [(m.role, m.blocks) for m in wanted]


def _same_words(found: Sequence[Message], wanted: Sequence[Message]) -> bool:
    """Whether the words of `wanted` stand in those of `found`, in order (other blocks change)."""
    text = "\n".join(words_of(message) for message in found)
    at = 0
    for message in wanted:
        for part in words_of(message).split("\n"):
            at = text.find(part, at)
            if at < 0:
                return False
            at += len(part)
    return True
