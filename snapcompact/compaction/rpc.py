"""Compaction over JSON lines: commands on one stream, answers and events on the other.

A command is an object with ``type`` and maybe ``id``; its answer is ``{"type": "response",
"command", "id", "success", "data" or "error"}``. Commands are answered in their order, but
``abort``, ``queue`` and ``get_state`` at once, also while a compaction runs. Events are the seeds'
``compaction_start`` and ``compaction_end``, ``auto_…`` where nobody asked, and between them
``compaction_stage``, ``compaction_text`` and ``warning``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from snapcompact.compaction.deciding import Options, Prepared
from snapcompact.compaction.modes.command import parse_args
from snapcompact.compaction.orchestrator import Orchestrator
from snapcompact.compaction.outcome import Status
from snapcompact.compaction.run import Result, apply
from snapcompact.compaction.session import archive_name, load_stored
from snapcompact.compaction.undo import real_path
from snapcompact.compaction.undo import undo as put_back
from snapcompact.errors import SnapcompactError, UsageError
from snapcompact.history.session import open_session

if TYPE_CHECKING:
    from snapcompact.compaction.host import Event
    from snapcompact.compaction.models import Summariser
    from snapcompact.compaction.settings import Settings
    from snapcompact.compaction.writers.contract import Stored

MOST_LINE_BYTES = 16 << 20
Json = dict[str, Any]


class FileHost:
    """A session file that is compacted in place."""

    def __init__(self, path: Path, format_name: str | None) -> None:
        self.path = real_path(path)
        self._format = format_name

    def load(self) -> Stored:
        """The file as it is now."""
        return load_stored(open_session(self.path, format=self._format))

    def archive(self) -> Path:
        """A free name beside the file."""
        return archive_name(self.path)

    def apply(self, ready: Prepared, result: Result) -> Json:
        """Write in place; the facts of the new compaction."""
        written = apply(ready, result, self.path, in_place=True)
        return {
            "summary": result.change.summary,
            "firstKeptEntryId": result.change.first_kept,
            "session": str(written.path),
            "backup": str(written.backup),
        }


class Server:
    """Answers commands about one session."""

    def __init__(
        self, host: FileHost, settings: Settings, options: Options, send: Callable[[Json], None]
    ) -> None:
        self._host = host
        self._send = send
        self.orchestrator = Orchestrator(
            host, settings, options, on_event=lambda event: send(event_json(event))
        )
        self._handlers: Mapping[str, Callable[[Json], Awaitable[Any]]] = {
            "abort": self._abort,
            "check": self._check,
            "compact": self._compact,
            "get_state": self._state,
            "new_turn": self._new_turn,
            "queue": self._queue,
            "set_auto_compaction": self._set_auto,
            "undo": self._undo,
        }

    async def handle(self, command: Json) -> None:
        """Answer one command."""
        kind = command.get("type")
        answer: Json = {"type": "response", "command": kind}
        if "id" in command:
            answer["id"] = command["id"]
        try:
            handler = self._handlers.get(kind) if isinstance(kind, str) else None
            if handler is None:
                known = ", ".join(sorted(self._handlers))
                raise UsageError(f"unknown command {kind!r}; known: {known}")
            data = await handler(command)
            self._send({**answer, "success": True, **({"data": data} if data is not None else {})})
        except SnapcompactError as error:
            self._send({**answer, "success": False, "error": str(error), "code": error.code})

    def at_once(self, command: Json) -> bool:
        """True for commands that do not wait for a compaction under way."""
        return command.get("type") in ("abort", "queue", "get_state")

    async def _compact(self, command: Json) -> Json:
        said = command.get("customInstructions")
        if said is not None and not isinstance(said, str):
            raise UsageError("customInstructions takes text")
        asked = parse_args(said or "")
        mode = command.get("mode") or asked.mode
        if mode is not None:
            asked = replace(parse_args(f"{mode} {asked.focus or ''}"), mode=mode)
        outcome = await self.orchestrator.compact(asked.mode, asked.focus or "")
        if outcome.status in (Status.FAILED, Status.BUSY, Status.CANCELLED):
            raise SnapcompactError(outcome.detail or outcome.reason.value)
        return {"status": outcome.status.value, "reason": outcome.reason.value,
                "detail": outcome.detail}  # fmt: skip

    async def _check(self, command: Json) -> Json:
        tokens = command.get("tokens")
        if not isinstance(tokens, int) or isinstance(tokens, bool):
            raise UsageError("check takes tokens, a whole number")
        outcome = await self.orchestrator.check(tokens)
        return {"status": outcome.status.value if outcome else "not due"}

    async def _abort(self, command: Json) -> Json:
        return {"aborted": self.orchestrator.cancel()}

    async def _queue(self, command: Json) -> Json:
        text = command.get("message")
        if not isinstance(text, str):
            raise UsageError("queue takes message, a text")
        self.orchestrator.inbox.add(text, steer=command.get("steer") is True)
        return {"queued": len(self.orchestrator.inbox.waiting)}

    async def _new_turn(self, command: Json) -> None:
        self.orchestrator.new_turn()

    async def _set_auto(self, command: Json) -> None:
        enabled = command.get("enabled")
        if not isinstance(enabled, bool):
            raise UsageError("set_auto_compaction takes enabled, true or false")
        self.orchestrator.autocompact = enabled

    async def _undo(self, command: Json) -> Json:
        return {"from": str(put_back(self._host.path, force=command.get("force") is True))}

    async def _state(self, command: Json) -> Json:
        return {
            "isCompacting": self.orchestrator.busy,
            "autoCompactionEnabled": self.orchestrator.autocompact,
            "queued": [queued.text for queued in self.orchestrator.inbox.waiting],
            "sessionFile": str(self._host.path),
        }


_EVENTS = {"start": "compaction_start", "end": "compaction_end", "stage": "compaction_stage",
           "text": "compaction_text"}  # fmt: skip


def event_json(event: Event) -> Json:
    """`event` as a line; those nobody asked for have the seeds' ``auto_`` names."""
    kind = _EVENTS.get(event.kind, event.kind)
    if event.auto and event.kind in ("start", "end"):
        kind = f"auto_{kind}"
    return {"type": kind, "run": event.run, "auto": event.auto, **event.data}


async def serve(
    session: Path, settings: Settings, found: Summariser, *, reader: str, offline: bool,
    format_name: str | None, lines: IO[bytes], out: IO[bytes], window: int = 0,
) -> None:  # fmt: skip
    """Answer the commands of `lines` until they end; a compaction under way is finished first."""

    def send(value: Json) -> None:
        out.write(json.dumps(value).encode() + b"\n")
        out.flush()

    options = Options(
        in_place=True,
        reader=reader, window=window, model=found.model, endpoint=found.endpoint, offline=offline,
    )  # fmt: skip
    server = Server(FileHost(session, format_name), settings, options, send)
    waiting: asyncio.Queue[Json | None] = asyncio.Queue()
    worker = asyncio.create_task(_work(server, waiting))
    while line := await asyncio.to_thread(lines.readline, MOST_LINE_BYTES):
        command = _command(line, send)
        if command is None:
            continue
        if server.at_once(command):
            await server.handle(command)
        else:
            waiting.put_nowait(command)
    waiting.put_nowait(None)
    await worker


async def _work(server: Server, waiting: asyncio.Queue[Json | None]) -> None:
    while (command := await waiting.get()) is not None:
        await server.handle(command)


def _command(line: bytes, send: Callable[[Json], None]) -> Json | None:
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except ValueError as error:
        send({"type": "response", "success": False, "error": f"not JSON: {error}"})
        return None
    if not isinstance(value, dict):
        send({"type": "response", "success": False, "error": "a command is a JSON object"})
        return None
    return value
