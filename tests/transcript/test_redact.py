"""Secrets out of messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import MissingExtraError
from snapcompact.history.blobs import blob
from snapcompact.history.model import Message, Meta, Other, Role, Text, ToolCall, ToolResult
from snapcompact.history.session import open_session
from snapcompact.transcript import library
from snapcompact.transcript.redact import Redactions, looks_secret, redact
from snapcompact.transcript.write import write_transcript
from tests.strategies import histories

CASE_36 = Path(__file__).parents[1] / "cases" / "36_fake_secrets.jsonl"
HASH, UUID = "9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708", "d0c0ffee-0000-4000-8000-0000000b0b00"
FAKES = [
    "hunter-FAKE-22",
    "FAKE-pass-0001",
    "FAKE-bearer-000000000000000000000000",
    "FAKEcookie0000",
    "sk-FAKE-not-a-real-key-000000000000",
    "sk-FAKE-not-a-real-",
    "key-000000000000",
    "FAKE/FAKE+0000000000000000000000000000",
    "FAKEpw",
    "FAKE_tok_0000000000000000000000000000",
    "two words FAKE",
    "FAKE PRIVATE KEY",
    "RkFLRS1GQUtFLUZBS0UtRkFLRQ==",
    "eyJGQUtFIjoxfQ",
    "RkFLRQ",
]


def _redacted(text: str) -> str:
    return next(iter(redact([Message(Role.USER, (Text(text.encode()),))]))).text


def _case_36() -> list[Message]:
    with open_session(CASE_36) as session:
        return list(session.messages())


def test_case_36_no_secret_is_left_hash_and_uuid_stay() -> None:
    text = b"".join(write_transcript(redact(_case_36()))).decode()
    assert [fake for fake in FAKES if fake in text] == []
    assert "FAKE" not in text
    assert HASH in text
    assert UUID in text
    assert "postgres://app:[REDACTED:url-password:1]@db.invalid:5432/app" in text


def test_case_36_same_value_same_label_also_broken_over_lines() -> None:
    found = Redactions()
    messages = list(redact(_case_36(), found))
    text = b"".join(write_transcript(messages)).decode()
    assert text.count("[REDACTED:token:1]") == 3
    assert "wrapped: [REDACTED:token:1] and [REDACTED:jwt:1]" in text
    assert (found.values["token"], found.places["token"]) == (1, 3)
    assert looks_secret(_case_36()) == found.places


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ghp_" + "a1B2" * 9, "[REDACTED:token:1]"),
        ("key AKIAIOSFODNN7EXAMPLE.", "key [REDACTED:aws-key:1]."),
        ("AIza" + "Sy1_-" * 7, "[REDACTED:token:1]"),
        ("glpat-" + "x1y2z" * 4, "[REDACTED:token:1]"),
        ("xoxb-123456789012-abcdefgh1234", "[REDACTED:token:1]"),
        ('api_key: "abcdef123456"', 'api_key: "[REDACTED:secret:1]"'),
        ("curl --user=me:s3cret-1 x", "curl --user=me:[REDACTED:password:1] x"),
        ("mysql --password hunter-2-two", "mysql --password [REDACTED:secret:1]"),
        ("-H 'x-api-key: abcd1234efgh'", "-H 'x-api-key: [REDACTED:secret:1]'"),
        ("Set-Cookie: a=1; Path=/\nnext", "Set-Cookie: [REDACTED:cookie:1]\nnext"),
        ("https://me:p4ss@h.invalid/", "https://me:[REDACTED:url-password:1]@h.invalid/"),
        ("export PGPASSWORD=abc-1", "export PGPASSWORD=[REDACTED:secret:1]"),
        (
            "sk-abcdefgh12345-\n   0123456789abc rest",
            "[REDACTED:token:1] rest",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijkl\nabc=\nand more",
            "[REDACTED:private-key:1]\nand more",
        ),
        (
            "1→-----BEGIN PRIVATE KEY-----\n2→MIIE\n3→-----END PRIVATE KEY-----\n4→x",
            "1→[REDACTED:private-key:1]\n4→x",
        ),
    ],
)
def test_what_agents_leak(before: str, after: str) -> None:
    assert _redacted(before) == after


@pytest.mark.parametrize(
    "text",
    [
        f"commit {HASH}",
        f"id={UUID}",
        "sha256:" + "ab12" * 16,
        "max_tokens=4096 tokens: 1234 token_count: 12345678",
        "password = getpass.getpass()",
        'token = os.environ["TOKEN_1234"]',
        "DEMO_TOKEN=${OTHER_TOKEN_1}",
        "API_KEY=<your-key-1234>",
        "def f(token: str, secret: bytes) -> None: ...",
        "src/a.ts:39: case Token.TypeofKeyword:\nsrc/parser.ts:4020: x",
        "The password is wrong. The token was refused.",
        "a cookie: small and round",
        "docker run -u 1000:1000 image",
        "author: someone-1234567",
        "https://host:8080/a@b",
        "the task-runner-0000000000000 of disk-0123456789abcdef",
        "the Bearer of bad news",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert _redacted(text) == text


def test_a_value_is_known_from_where_it_was_met_on() -> None:
    first = Message(Role.USER, (Text(b"DB_PASSWORD=correct-horse-9\n"),))
    later = Message(Role.ASSISTANT, (Text(b"I sent correct-horse-9 on."),))
    texts = [message.text for message in redact([first, later])]
    assert texts[1] == "I sent [REDACTED:secret:1] on."


def test_every_place_of_a_message() -> None:
    secret = b"ghp_" + b"a1B2" * 9
    words = secret.decode()
    message = Message(
        Role.TOOL,
        (
            ToolResult(
                "c", (Text(secret), Other("x", secret), blob("file", "text/plain", secret, words))
            ),
        ),
        f"attachment {words}",
        Meta(stop=f"error: {words}"),
    )
    call = Message(Role.ASSISTANT, (ToolCall("c", "f", json.dumps({"a": words}).encode()),))
    out = list(redact([message, call]))
    assert words not in repr(out)
    result = out[0].blocks[0]
    assert isinstance(result, ToolResult)
    file = result.content[2]
    label = b"[REDACTED:token:1]"
    assert file == blob("file", "text/plain", label, label.decode())
    assert getattr(file, "data", None) == label
    assert out[1].blocks == (ToolCall("c", "f", b'{"a": "[REDACTED:token:1]"}'),)


def test_a_picture_keeps_its_bytes() -> None:
    picture = blob("image", "image/png", b"\x89PNG\r\n\x1a\n\0 TOKEN=abc12345")
    message = Message(Role.USER, (picture,))
    assert list(redact([message])) == [message]


_OPENERS = st.sampled_from(
    ["TOKEN=", "password: ", "", "Cookie: a=", "https://a:", "curl -u a:", 'api_key="', "Bearer "]
)
_VALUES = st.sampled_from(["abc123def456", "sk-ABCDEFGHIJKLMNOP1", "eyJhbGci.e30k.x", "word", "1"])
_CLOSERS = st.sampled_from(["", " and", '"', "@host", "\\", "-\n  more1234"])
_LEAKS = st.lists(st.tuples(_OPENERS, _VALUES, _CLOSERS).map("".join), max_size=6).map("\n".join)


@given(_LEAKS)
def test_redacted_text_has_nothing_more_to_redact(text: str) -> None:
    once = _redacted(text)
    assert _redacted(once) == once


@given(st.dictionaries(st.text(max_size=3), _LEAKS, max_size=3))
def test_json_stays_json(args: dict[str, str]) -> None:
    call = Message(Role.ASSISTANT, (ToolCall("c", "f", json.dumps(args).encode()),))
    out = next(iter(redact([call]))).blocks[0]
    assert isinstance(out, ToolCall)
    assert list(json.loads(out.args)) == list(args)


@given(histories)
def test_one_for_one_and_the_same_again(history: list[Message]) -> None:
    out = list(redact(history))
    assert [(m.role, len(m.blocks)) for m in out] == [(m.role, len(m.blocks)) for m in history]
    assert list(redact(history)) == out


def test_many_cut_keys_cost_their_length() -> None:
    begin = "-----BEGIN A PRIVATE KEY-----"
    assert _redacted(f"{begin}\n!" * 3_000).count("private-key:1]") == 3_000
    assert len(_redacted(f"{begin} " * 30_000)) < 30_000 * len(begin)


@given(st.binary(max_size=200))
def test_spans_are_in_order_and_apart(text: bytes) -> None:
    end = 0
    for span in library.finder().find(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end


def test_without_the_library_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "detect_secrets.plugins.aws", None)
    library.finder.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match="snapcompact\\[redact\\]"):
            list(redact([]))
        assert looks_secret(_case_36())["token"] == 3
    finally:
        library.finder.cache_clear()
