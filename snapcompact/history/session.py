"""A session file opened for reading: its format, its messages, what reading met."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snapcompact.history.detect import detect
from snapcompact.history.formats import Conversation, Format, Options, by_name
from snapcompact.history.merge import merged
from snapcompact.history.report import DamageReport, Report
from snapcompact.history.resume import CannotResume, Trail
from snapcompact.history.source import Source, open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from snapcompact.history.model import Message
    from snapcompact.history.resume import Point


@dataclass(slots=True)
class Session:
    """One session. Use as a context manager where the source may be a pipe."""

    source: Source
    format: Format
    options: Options = field(default_factory=Options)
    strict: bool = False
    report: Report = field(default_factory=Report)
    """Of the newest call of :meth:`messages`; complete once that has ended."""
    leaves_trail: bool = False
    """Whether readings say how a later one can go on (see ``resume.py``)."""

    def messages(self) -> Iterator[Message]:
        """The messages from the start, streamed, as often as called.

        Raises DiskError, FormatError where the named format does not fit, and DamageError at the
        first damage where `strict`.
        """
        self.report = Report(DamageReport(self.source.name, self.strict))
        plain = not self.strict and self.options == Options()
        if self.leaves_trail and plain and not self.source.packed():
            self.report.trail = Trail()
        return merged(self.format.load().read(self.source, self.options, self.report))

    def messages_from(self, point: Point, info: dict[str, str]) -> Iterator[Message]:
        """The messages from `point` on; `info` is what the report said at the end of the old file.

        Raises CannotResume where it takes a reading of the whole file to know them.
        """
        read = getattr(self.format.load(), "resume", None)
        if read is None or self.strict or self.options != Options():
            raise CannotResume(f"a {self.format.name} session is read from its beginning")
        self.report = report = Report(DamageReport(self.source.name), info=dict(info))
        report.skipped.update(point.skipped)
        report.damage.counts.update(point.damage)
        report.trail = Trail(point.rows)
        source = replace(self.source, begin=point.warm_offset or point.offset)
        messages: Iterator[Message] = read(source, self.options, report, point)
        return merged(messages)

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """The conversations of a file that holds many; empty where a file is one."""
        listed = getattr(self.format.load(), "conversations", None)
        return tuple(listed(self.source)) if listed else ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.source.close()


def open_session(
    what: Source | Path | str | bytes,
    *,
    format: str | None = None,
    branch: str = "active",
    select: str = "",
    strict: bool = False,
) -> Session:
    """The session in `what`: a path, ``-`` for standard input, bytes, or a Source.

    `format` names the format where it should not be told from the content. `branch` is
    ``active``, ``all`` or a branch's id; `select` the id of one conversation where the file holds
    many. Raises DiskError, UnknownNameError.
    """
    source = open_source(what)
    row = by_name(format) if format else detect(source)
    return Session(source, row, Options(branch, select), strict)
