"""Requests as batch files ready to upload, and the files of results taken in.

OpenAI: a JSON Lines file for ``/v1/batches`` (at most 50,000 requests and 200 MB). Anthropic: the
JSON body of ``POST /v1/messages/batches`` (at most 100,000 requests and 256 MB). A request is named
by the key of its answer, so results find their pages in any order and twice over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.errors import InputError, OutputExistsError, UnknownNameError
from snapcompact.files import disk_errors, write_atomic
from snapcompact.history.model import Usage
from snapcompact.llm.anthropic import messages_body
from snapcompact.llm.contract import Completion, Endpoint, Stop
from snapcompact.llm.openai import chat_body
from snapcompact.readback.prompt import page_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from snapcompact.readback.answers import Answers
    from snapcompact.readback.reader import PagePicture

Json = dict[str, Any]
MOST_LINE_BYTES = 32 << 20
"""Of a file of results; no answer comes near it."""
_KEY = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class BatchKind:
    """How a provider wants requests; `join` makes a file of them."""

    protocol: str
    request: Callable[[str, Json], Json]
    body: Callable[[Endpoint, Any], Json]
    ending: str
    join: Callable[[list[bytes]], bytes]
    most_requests: int
    most_bytes: int


def _openai_line(key: str, body: Json) -> Json:
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


BATCHES: Mapping[str, BatchKind] = {
    "anthropic": BatchKind(
        "anthropic", lambda key, body: {"custom_id": key, "params": body}, messages_body,
        "json", lambda parts: b'{"requests":[' + b",".join(parts) + b"]}\n", 100_000, 250_000_000,
    ),
    "openai": BatchKind(
        "openai", _openai_line, chat_body,
        "jsonl", lambda parts: b"".join(part + b"\n" for part in parts), 50_000, 195_000_000,
    ),
}  # fmt: skip
"""By the name on the command line, sorted; bytes a little under the provider's limit."""


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A file that was written."""

    path: Path
    requests: int
    bytes: int


def write_batch(
    kind_name: str, model: str, pages: Iterable[PagePicture], answers: Answers, folder: Path
) -> list[BatchFile]:
    """Batch files in `folder`, which is made, for the pages whose answer is not kept yet.

    Raises UnknownNameError, and OutputExistsError where `folder` holds batch files.
    """
    if kind_name not in BATCHES:
        raise UnknownNameError(f"unknown batch {kind_name!r}; known are {', '.join(BATCHES)}")
    kind = BATCHES[kind_name]
    if any(folder.glob("batch-*")):
        raise OutputExistsError(f"{folder} holds batch files already; give another folder")
    with disk_errors("make", folder):
        folder.mkdir(parents=True, exist_ok=True)
    files: list[BatchFile] = []
    for number, parts in enumerate(_files(kind, _requests(kind, model, pages, answers)), 1):
        path = folder / f"batch-{number:03}.{kind.ending}"
        data = kind.join(parts)
        write_atomic(path, data)
        files.append(BatchFile(path, len(parts), len(data)))
    return files


def _requests(
    kind: BatchKind, model: str, pages: Iterable[PagePicture], answers: Answers
) -> Iterator[bytes]:
    endpoint = Endpoint(kind.protocol, model.partition(":")[2] or model)
    asked: set[str] = set()
    for page in pages:
        key = answers.key(model, page)
        if key in asked or answers.get(key) is not None:
            continue
        asked.add(key)
        body = kind.body(endpoint, replace(page_request(page), stream=False))
        body.pop("stream", None)
        yield orjson.dumps(kind.request(key, body))


def _files(kind: BatchKind, requests: Iterable[bytes]) -> Iterator[list[bytes]]:
    parts: list[bytes] = []
    size = 0
    for request in requests:
        full = len(parts) == kind.most_requests or size + len(request) > kind.most_bytes
        if parts and full:
            yield parts
            parts, size = [], 0
        parts.append(request)
        size += len(request) + 1
    if parts:
        yield parts


@dataclass(frozen=True, slots=True)
class Collected:
    """What a file of results held. `failed` are messages, one a request without an answer."""

    kept: int
    known: int
    failed: tuple[str, ...]


def collect_batch(path: Path, answers: Answers) -> Collected:
    """Keep the answers in the JSON Lines at `path`; those kept already stay as they are.

    Raises InputError with the line number where the file is not of a batch.
    """
    kept = known = 0
    failed: list[str] = []
    for number, line in _lines(path):
        try:
            value = orjson.loads(line)
            key = str(value["custom_id"])
            if not _KEY.fullmatch(key):
                raise ValueError("a custom_id that this program did not give")
            completion = _completion(value)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{path}: line {number}: no result of a batch: {error}") from error
        if isinstance(completion, str):
            failed.append(f"{key}: {completion}")
        elif answers.get(key) is not None:
            known += 1
        else:
            answers.put(key, "", completion)
            kept += 1
    return Collected(kept, known, tuple(failed))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with disk_errors("read", path), open(path, "rb") as file:
        number = 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise InputError(f"{path}: line {number} is longer than {MOST_LINE_BYTES:,} bytes")
            if line.strip():
                yield number, line


_OPENAI_STOPS = {"stop": Stop.END, "length": Stop.LENGTH, "content_filter": Stop.REFUSAL}
_ANTHROPIC_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "max_tokens": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}


def _completion(value: Json) -> Completion | str:
    """The answer in one result of either provider, or why there is none."""
    if "result" in value:
        result = value["result"]
        if result["type"] != "succeeded":
            return f"{result['type']}: {str(result.get('error') or '')[:200]}".rstrip(": ")
        return _anthropic(result["message"])
    response = value.get("response")
    if value.get("error") or response is None or response["status_code"] != 200:
        return str(value.get("error") or response)[:200]
    return _openai(response["body"])


def _anthropic(message: Json) -> Completion:
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    said = message.get("usage") or {}
    usage = Usage(
        int(said.get("input_tokens") or 0),
        int(said.get("output_tokens") or 0),
        int(said.get("cache_read_input_tokens") or 0),
        int(said.get("cache_creation_input_tokens") or 0),
    )
    stop = str(message["stop_reason"])
    return Completion(
        text, _ANTHROPIC_STOPS.get(stop, Stop.OTHER), usage, str(message.get("model", "")), stop
    )


def _openai(body: Json) -> Completion:
    choice = body["choices"][0]
    said = body.get("usage") or {}
    usage = Usage(int(said.get("prompt_tokens") or 0), int(said.get("completion_tokens") or 0))
    stop = str(choice["finish_reason"])
    text = choice["message"].get("content") or ""
    return Completion(
        text, _OPENAI_STOPS.get(stop, Stop.OTHER), usage, str(body.get("model", "")), stop
    )
