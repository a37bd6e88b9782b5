"""A compacted session written beside its input or in its place, checked, and taken back.

What was written is read again as its tool would read it before it gets its name: the summary must
be there, and exactly what was to be kept (invariant 9 of DESIGN.md).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.context import Context, ContextRules, build_context
from snapcompact.compaction.entries import BRANCH_SUMMARY, is_summary, words_of
from snapcompact.compaction.writers import appends, keeps_format, writer_for
from snapcompact.errors import InputError, OutputExistsError, UsageError
from snapcompact.files import atomic_writer, disk_errors, read_bounded, sync_folder, write_atomic
from snapcompact.history.model import Message, Role, shown
from snapcompact.history.session import open_session

if TYPE_CHECKING:
    from snapcompact.compaction.writers.contract import Change, Stored
    from snapcompact.history.session import Session

_PACKED = (".gz", ".zst")
UNDO_SUFFIX = ".undo.json"
"""Behind an in-place session's name: where its backup is and what both hold."""
BACKUP_SUFFIX = ".before"
_MOST_UNDO_BYTES = 1 << 20


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


def whole_name(stored: Stored, *, in_place: bool) -> str:
    """Name of the file that still holds every entry once `stored` is compacted.

    A writer that makes the file anew leaves what it cut out in the backup only.
    """
    path = stored.session.source.path
    if path is None or not in_place or appends(stored.session.format.name):
        return os.path.basename(stored.session.source.name)
    return _backup_path(real_path(path), stored.digest).name


def real_path(path: Path) -> Path:
    """The file `path` leads to: what takes a session's place must not take its link's."""
    return Path(os.path.realpath(path))


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
    it for :func:`undo`, and its permissions stay. Raises OutputExistsError, InputError where the
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
        backup = _back_up(out, stored.digest) if in_place else None
        if backup is not None:
            _note_undo(out, backup, stored.digest, fingerprint(partial))
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


def fingerprint(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with disk_errors("read", path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


# --- in place, and back


def _back_up(path: Path, digest: str) -> Path:
    """A copy of `path` beside it, private and synced, whose name says which state it is."""
    backup = _backup_path(path, digest)
    if backup.exists() and fingerprint(backup) == digest:
        return backup
    with disk_errors("copy", path), open(path, "rb") as old, atomic_writer(backup) as new:
        shutil.copyfileobj(old, new, 1 << 20)
    return backup


def _backup_path(path: Path, digest: str) -> Path:
    return path.with_name(f"{path.name}{BACKUP_SUFFIX}.{digest[:12]}")


def _undo_file(path: Path) -> Path:
    return path.with_name(path.name + UNDO_SUFFIX)


def _note_undo(path: Path, backup: Path, before: str, after: str) -> None:
    """Put this step on the stack of `path`, before it is taken."""
    step = {"backup": backup.name, "before": before, "after": after}
    steps = [*_steps(path), step]
    write_atomic(_undo_file(path), json.dumps({"steps": steps}, indent=1).encode() + b"\n")


def _steps(path: Path) -> list[dict[str, str]]:
    file = _undo_file(path)
    if not file.exists():
        return []
    try:
        value: Any = json.loads(read_bounded(file, _MOST_UNDO_BYTES))
        steps = value["steps"]
        assert all(isinstance(step[key], str) for step in steps
                   for key in ("backup", "before", "after"))  # fmt: skip
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise InputError(f"{file} is no list of undo steps: {error!r}") from error
    return list(steps)


def undo(path: Path, *, force: bool = False) -> Path:
    """Put back what `path` held before its newest compaction in place; the backup that was used.

    Raises UsageError where there is none, or where `path` has changed since, unless `force`: then
    what it holds now is kept beside it, under a name of its own. A link is followed.
    """
    path = real_path(path)
    now = fingerprint(path) if path.exists() else ""
    steps = _steps(path)
    while steps and steps[-1]["before"] == now:
        steps.pop()  # noted, then interrupted before it was done
    if not steps:
        raise UsageError(f"{path} was not compacted in place; there is nothing to undo")
    step = steps[-1]
    backup = path.parent / os.path.basename(step["backup"])
    if backup.name != step["backup"] or not backup.is_file():
        raise UsageError(f"the backup {shown(step['backup'].encode())} of {path} is gone")
    if fingerprint(backup) != step["before"]:
        raise InputError(f"{backup} is not what was backed up; nothing was changed")
    if now and now != step["after"]:
        if not force:
            raise UsageError(
                f"{path} has changed since it was compacted; --force puts the old state back and "
                "keeps the new one beside it"
            )
        _back_up(path, now)
    with disk_errors("write", path):
        mode = path.stat().st_mode & 0o7777 if now else None
        with open(backup, "rb") as old, atomic_writer(path) as new:
            shutil.copyfileobj(old, new, 1 << 20)
        if mode is not None:
            path.chmod(mode)
        _drop_step(path, steps[:-1])
        os.unlink(backup)
        sync_folder(path.parent)
    return backup


def _drop_step(path: Path, steps: list[dict[str, str]]) -> None:
    if steps:
        write_atomic(_undo_file(path), json.dumps({"steps": steps}, indent=1).encode() + b"\n")
    else:
        _undo_file(path).unlink()
