"""A real HTTP server on 127.0.0.1 that speaks the providers' protocols from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers.protocols import WRITERS, Event, error_body, protocol_of
from tests.servers.script import Fail, HangUp, Raw, Say, Silence, Step, StreamError


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """A running server: its address, and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def base_url(self, protocol: str) -> str:
        """The base URL a client of `protocol` is given."""
        return self.url + "/v1" if protocol.startswith("openai") else self.url

    def next_step(self, asked: Asked) -> Step:
        """Note a request; the step that answers it."""
        with self.lock:
            self.asked.append(asked)
            return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(data or b"null")
        step = self.state.next_step(Asked(path, dict(self.headers.items()), body))
        protocol = protocol_of(path)
        stream = "stream" in path.lower() or bool((body or {}).get("stream"))
        try:
            self._answer(step, protocol, stream)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has gone, as some tests want

    def _answer(self, step: Step, protocol: str, stream: bool) -> None:
        match step:
            case Raw():
                self._whole(step.status, step.body, step.content_type)
            case Fail():
                said = error_body(protocol, step.status, step.message, step.kind)
                self._whole(step.status, json.dumps(said).encode(), headers=step.headers)
            case Silence():
                self.state.closing.wait()
                self.close_connection = True
            case HangUp() if not step.after_events:
                self.close_connection = True
            case HangUp():
                self._stream(list(WRITERS[protocol].events(step.say))[: step.after_events])
            case StreamError():
                begun = list(WRITERS[protocol].events(Say("One two three.")))[:2]
                said = error_body(protocol, 529, step.message, step.kind)
                self._stream([*begun, Event("error", {"type": "error", **said})])
            case Say() if stream:
                writer = WRITERS[protocol]
                self._stream(list(writer.events(step)), done=writer.done, whole=True)
            case Say():
                self._whole(200, json.dumps(WRITERS[protocol].whole(step)).encode())

    def _whole(
        self, status: int, body: bytes, kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Sequence[Event], *, done: bool = False, whole: bool = False) -> None:
        """Events in chunked encoding; without `whole` the connection is cut before its end."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            name = f"event: {event.name}\n" if event.name else ""
            self._chunk(f"{name}data: {json.dumps(event.data)}\n\n".encode())
        if done:
            self._chunk(b"data: [DONE]\n\n")
        if whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


@contextmanager
def serve(*steps: Step) -> Iterator[Server]:
    """A server on a free port that takes `steps` in turn, the last one for all that follow."""
    state = Server("", steps=list(steps) or [Say()])
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        state.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.closing.set()
            http.shutdown()
            thread.join()
