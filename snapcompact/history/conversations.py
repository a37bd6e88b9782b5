"""Files that hold many conversations: which to read, and the note that stands before each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message, Meta, Role, Text, wtf8

if TYPE_CHECKING:
    from snapcompact.history.formats import Conversation, Options
    from snapcompact.history.report import Report

T = TypeVar("T")


class Found(NamedTuple, Generic[T]):
    """A conversation of the file and what its messages are made from."""

    about: Conversation
    body: T
    note: tuple[Message, ...]
    """What to say before its messages: nothing where it was asked for by name."""


def chosen(
    found: Iterable[tuple[Conversation, T]], options: Options, report: Report
) -> Iterator[Found[T]]:
    """The conversations that `options` selects; all, each with a note, where it selects none.

    Those not selected are counted as skipped. Raises UnknownNameError, at the end, where none is
    the selected one.
    """
    matched = False
    for about, body in found:
        if not options.select:
            matched = True
            yield Found(about, body, (announce(about),))
        elif about.id == options.select:
            matched = True
            report.learn("id", about.id)
            report.learn("title", about.title)
            yield Found(about, body, ())
        else:
            report.skipped["conversation not selected"] += 1
    if options.select and not matched:
        raise UnknownNameError(
            f"no conversation {options.select!r} in this file; `snapcompact inspect` lists them"
        )


def read_all(
    listed: list[tuple[Conversation, T]],
    read: Callable[[T], Iterator[Message]],
    options: Options,
    report: Report,
) -> Iterator[Message]:
    """Every selected conversation, in file order; one alone has no note before it."""
    if len(listed) == 1 and not options.select:
        about, body = listed[0]
        report.learn("id", about.id)
        report.learn("title", about.title)
        yield from read(body)
        return
    for found in chosen(listed, options, report):
        yield from found.note
        yield from read(found.body)


def announce(about: Conversation) -> Message:
    """The note that stands before a conversation's messages."""
    words = f"{about.id}: {about.title}" if about.title else about.id
    return Message(
        Role.NOTE, (Text(wtf8(words)),), "conversation", Meta(id=about.id, time=about.time)
    )
