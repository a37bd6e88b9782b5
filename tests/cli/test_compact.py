"""The commands compact, undo, config and rpc as a shell user meets them: output and exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from snapcompact.cli.app import run
from snapcompact.errors import DiskError
from tests.compaction.sessions import BUILDERS, Turn, long_turns, pi
from tests.servers.script import Fail, Say
from tests.servers.server import serve

CASES = Path(__file__).parents[1] / "cases"
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys, no settings of whoever runs the tests."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(12)))
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert run(list(arguments)) == code
    said = capsys.readouterr()
    return said.out, said.err


def value_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(printed(capsys, *arguments, "--json")[0])
    return value


def test_a_session_beside_the_old_one(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = session.read_bytes()
    out, _ = printed(capsys, "compact", "s.jsonl", "--keep", "300")
    assert "s.compacted.jsonl" in out
    assert "extract without a model" in out
    assert session.read_bytes() == before
    _, err = printed(capsys, "compact", "s.jsonl", "--keep", "300", code=2)
    assert "already exists" in err
    assert sorted(os.listdir()) == ["s.compacted.jsonl", "s.jsonl"]


def test_a_dry_run_touches_nothing(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, "compact", "s.jsonl", "--keep", "300", "--dry-run")
    assert "mode: soft (extract, no model)" in out
    plan = value_of(capsys, "compact", "s.jsonl", "snapcompact", "--model", "gpt-4", "--dry-run")
    assert plan["mode"] == "soft"
    assert plan["skipped"][0]["mode"] == "snapcompact"
    assert os.listdir() == ["s.jsonl"]


def test_the_grammar(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = session.read_bytes()
    _, err = printed(capsys, "compact", "s.jsonl", "SnapCompact", "the", "values", code=2)
    assert "takes no focus" in err
    plan = value_of(capsys, "compact", "s.jsonl", "SOFT", "the", "values", "--dry-run")
    assert plan["mode"] == "soft"
    made = value_of(capsys, "compact", "s.jsonl", "values", "of", "file", "--keep", "300")
    assert made["mode"] == "soft"
    assert b"About: values of file" in Path(made["output"]).read_bytes()
    assert session.read_bytes() == before


def test_pages_and_their_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.jsonl").write_bytes(pi(long_turns(60)))
    arguments = ("compact", "s.jsonl", "snapcompact", "--model", "gpt-5", "--keep", "300")
    made = value_of(capsys, *arguments)
    assert made["mode"] == "snapcompact"
    assert made["pages_shown"] >= 1
    assert made["archive"] == "s.compacted.archive"
    assert run(["verify", made["archive"]]) == 0
    capsys.readouterr()
    assert made["tokens_after"] < made["tokens_before"]


def test_in_place_and_undo(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = session.read_bytes()
    out, _ = printed(capsys, "compact", "s.jsonl", "--keep", "300", "--in-place")
    assert out.startswith("s.jsonl: ")
    assert session.read_bytes() != before
    printed(capsys, "undo", "s.jsonl")
    assert session.read_bytes() == before
    _, err = printed(capsys, "undo", "s.jsonl", code=2)
    assert "nothing to undo" in err


@pytest.mark.parametrize("turns", [[], [Turn("Hi", "Hello", None)]])
def test_nothing_to_compact_is_no_error(
    turns: list[Turn], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.jsonl").write_bytes(pi(turns))
    _, err = printed(capsys, "compact", "s.jsonl", "--keep", "5000")
    assert "Nothing to compact" in err
    assert os.listdir() == ["s.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["no-such-file"], 3, "cannot read"),
        (["-"], 2, "needs a file"),
        (["s.jsonl", "-o", "x", "--in-place"], 2, "exclude"),
        (["s.jsonl", "--model", "openai:gpt-5"], 2, "OPENAI_API_KEY"),
        (["s.jsonl", "snapcompact", "--model", "gpt-4", "--strict"], 2, "reads text only"),
        (["s.jsonl", "remote", "--strict"], 2, "no endpoint"),
        (["s.jsonl", "--model", "openai:m", "--base-url", "not a url"], 2, "no address"),
        (["s.jsonl", "--set", "nonsense=1"], 2, "nonsense"),
        (["s.jsonl", "--set", "keepRecentTokens=many"], 2, "keep_tokens"),
    ],
)
def test_refusals(
    session: Path, arguments: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = printed(capsys, "compact", *arguments, code=code)
    assert why in err
    assert os.listdir() == ["s.jsonl"]


def test_a_model_of_ones_own(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(Fail(503, "busy", headers={"retry-after": "0"}), Say("A short summary.")) as server:
        out, err = printed(
            capsys, "compact", "s.jsonl", "--keep", "300", "--model", "openai:scripted",
            "--base-url", server.base_url("openai"),
        )  # fmt: skip
    assert "(soft)" in out
    assert "sent again" in err
    assert b"A short summary." in Path("s.compacted.jsonl").read_bytes()


def test_a_model_that_fails_writes_nothing(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Fail(401, "no")) as server:
        url = server.base_url("openai")
        arguments = ("compact", "s.jsonl", "--model", "openai:m", "--base-url", url)
        _, err = printed(capsys, *arguments, code=3)
    assert "HTTP 401" in err
    assert os.listdir() == ["s.jsonl"]


def test_config_says_where_a_value_is_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("snapcompact.toml").write_text("keepRecentTokens = 777\nstrategy = 'snapcompact'\n")
    values = value_of(capsys, "config", "keepRecentTokens", "modes.order")
    assert values["trigger.keep_tokens"]["value"] == 777
    assert values["trigger.keep_tokens"]["source"].endswith("snapcompact.toml")
    assert values["modes.order"]["value"] == ["snapcompact"]
    values = value_of(capsys, "config", "trigger.", "--set", "keepRecentTokens=5")
    assert values["trigger.keep_tokens"] == {"value": 5, "source": "--set"}
    assert values["trigger.enabled"]["source"].startswith("policy")
    out, _ = printed(capsys, "config")
    assert "modes.order" in out
    _, err = printed(capsys, "config", "nonsense", code=2)
    assert "no setting" in err


def test_rpc_over_a_pipe(session: Path) -> None:
    before = session.read_bytes()
    commands = b'{"type":"compact","id":1}\n{"type":"undo","id":2}\n'
    done = subprocess.run(
        [sys.executable, "-m", "snapcompact", "rpc", "s.jsonl", "--offline"],
        input=commands, capture_output=True, check=True, timeout=240,
    )  # fmt: skip
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(a["id"], a["success"]) for a in said if a["type"] == "response"] == [
        (1, True),
        (2, True),
    ]
    assert session.read_bytes() == before


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_every_format_from_the_shell(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.jsonl").write_bytes(BUILDERS[kind](long_turns(10)))
    out, _ = printed(capsys, "compact", "s.jsonl", "--keep", "300", "-o", "out")
    assert out.startswith("out: ")


@pytest.mark.skipif(not CASES.exists(), reason="the collected cases are not there")
def test_hostile_sessions_are_compacted_or_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in sorted(CASES.glob("*.jsonl")):
        code = run(["compact", str(path), "--keep", "400", "-o", str(tmp_path / path.name)])
        said = capsys.readouterr()
        assert code in (0, 1, 2), (path.name, said.err)
        assert "Traceback" not in said.err
        written = (tmp_path / path.name).exists()
        assert written == (code == 0 and "Nothing to compact" not in said.err), path.name


# --- in place


def huge_tail(kind: str) -> Path:
    """A session whose last answer alone is over a small window."""
    path = Path("s.jsonl")
    turns = [*long_turns(3), Turn("Now the log.", "a line of the log\n" * 6000, None)]
    path.write_bytes(BUILDERS[kind](turns))
    return path


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_what_was_cut_out_is_where_the_marker_says(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = huge_tail(kind)
    before = path.read_bytes()
    out, err = printed(
        capsys, "compact", "s.jsonl", "--window", "16000", "--offline", "--in-place",
        "--format", kind.split(maxsplit=1)[0],
    )  # fmt: skip
    held = re.search(rb"whole in ([^ ,]+), entry ", path.read_bytes())
    assert held is not None
    whole = Path(held[1].decode()).read_bytes()
    assert whole == before or whole.startswith(before)
    assert f"is in {held[1].decode()}, entry " in err
    assert "kept but cut short" in out


def test_a_cut_message_is_told_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    huge_tail("pi")
    arguments = ("compact", "s.jsonl", "--window", "16000", "--offline")
    _, err = printed(capsys, *arguments, "--dry-run")
    assert "lost their middle" in err
    assert len(value_of(capsys, *arguments, "--dry-run")["shrunk"]) == 1
    assert len(value_of(capsys, *arguments)["shrunk"]) == 1
    small = value_of(capsys, "compact", "s.jsonl", "--window", "900000", "--offline", "--dry-run")
    assert small["shrunk"] == []


def test_a_link_and_its_permissions_stay(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = session.read_bytes()
    session.chmod(0o644)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "l.jsonl"
    link.symlink_to(session)
    printed(capsys, "compact", "links/l.jsonl", "--keep", "300", "--in-place")
    assert link.is_symlink()
    assert session.read_bytes() != before
    assert session.stat().st_mode & 0o777 == 0o644
    assert os.listdir("links") == ["l.jsonl"]
    held = [path for path in tmp_path.iterdir() if path.name.startswith("s.jsonl.")]
    assert [path.stat().st_mode & 0o777 for path in held] == [0o600, 0o600]
    printed(capsys, "undo", "links/l.jsonl")
    assert link.is_symlink()
    assert session.read_bytes() == before
    assert session.stat().st_mode & 0o777 == 0o644


def test_a_link_to_nothing_is_not_written_through(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").symlink_to("nowhere")
    _, err = printed(capsys, "compact", "s.jsonl", "--keep", "300", "-o", "out", code=2)
    assert "already exists" in err
    assert Path("out").is_symlink()


# --- what is said before anything is done


def test_a_reader_nobody_knows_is_told(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = Path("c.json")
    chat.write_bytes(BUILDERS["openai_chat"](long_turns(8)))
    _, err = printed(capsys, "compact", "c.json", "--dry-run")
    assert "no model is named" in err
    assert "cautious row" in err
    _, err = printed(capsys, "compact", "c.json", "--dry-run", "--model", "made-up-9")
    assert "'made-up-9' is not in the catalog" in err
    _, err = printed(capsys, "compact", "c.json", "--dry-run", "--model", "gpt-5", "--offline")
    assert "cautious row" not in err


@pytest.mark.parametrize("mode", ["soft", "snapcompact"])
def test_a_dry_run_knows_what_the_run_will_give(
    mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.jsonl").write_bytes(pi(long_turns(60)))
    arguments = ("compact", "s.jsonl", mode, "--model", "gpt-5", "--keep", "300", "--offline")
    planned = value_of(capsys, *arguments, "--dry-run", "-o", "no-such-folder/out")
    out, _ = printed(capsys, *arguments, "--dry-run", "-o", "no-such-folder/out")
    assert f"after: {planned['tokens_after']:,} tokens" in out
    _, err = printed(capsys, *arguments, "-o", "no-such-folder/out", code=3)
    assert "no-such-folder/out" in err
    assert os.listdir() == ["s.jsonl"]
    made = value_of(capsys, *arguments)
    assert made["mode"] == mode
    # The name of the archive stands in the summary, and it may be longer.
    assert abs(made["tokens_after"] - planned["tokens_after"]) <= 20


def test_a_dry_run_asks_no_model(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(Say("A summary.")) as server:
        out, _ = printed(
            capsys, "compact", "s.jsonl", "--keep", "300", "--model", "openai:scripted",
            "--base-url", server.base_url("openai"), "--dry-run",
        )  # fmt: skip
        assert not server.asked
    assert "cost: unknown" in out
    assert "after:" not in out


def test_one_of_many_conversations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("first", "second")
    value = [
        {
            "uuid": name, "name": name, "chat_messages": [
                {"uuid": f"{name}{n}", "sender": ("human", "assistant")[n % 2],
                 "text": f"{name} {n} " + "some words to say " * 30,
                 "created_at": "2026-01-01T00:00:00Z"}
                for n in range(20)
            ],
        }
        for name in names
    ]  # fmt: skip
    Path("many.json").write_text(json.dumps(value))
    arguments = ("compact", "many.json", "--keep", "300", "--offline")
    _, err = printed(capsys, *arguments, code=2)
    assert "holds 2 conversations" in err
    assert "--select ID" in err
    _, err = printed(capsys, *arguments, "--select", "third", code=2)
    assert "no conversation 'third'" in err
    _, err = printed(capsys, *arguments, "--select", "second", "--in-place", code=2)
    assert "other conversations" in err
    assert os.listdir() == ["many.json"]
    printed(capsys, *arguments, "--select", "second")
    made = Path("many.compacted.json").read_text()
    assert "second 19" in made
    assert "first" not in made


def test_undo_names_the_archive_that_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.jsonl").write_bytes(pi(long_turns(60)))
    arguments = ("compact", "s.jsonl", "snapcompact", "--model", "gpt-5", "--keep", "300")
    printed(capsys, *arguments, "--in-place", "--offline")
    out, _ = printed(capsys, "undo", "s.jsonl")
    assert "s.archive: its archive is still there" in out


def test_terminated_while_drawing_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.jsonl").write_bytes(pi(long_turns(60)))

    def terminated(*given: Any) -> None:
        assert any(name.startswith(".snapcompact-") for name in os.listdir())
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("snapcompact.compaction.modes.snapcompact.write_archive", terminated)
    before = signal.getsignal(signal.SIGTERM)
    printed(capsys, "compact", "s.jsonl", "snapcompact", "--model", "gpt-5", code=130)
    assert os.listdir() == ["s.jsonl"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_summary_without_its_end_is_told_before_it_is_written(
    session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*given: Any, **named: Any) -> None:
        raise DiskError("the disk is full")

    monkeypatch.setattr("snapcompact.cli.compacting.apply", no_disk)
    with serve(Say("A short sum", stop="length", output_tokens=77)) as server:
        _, err = printed(
            capsys, "compact", "s.jsonl", "--keep", "300", "--model", "openai:scripted",
            "--base-url", server.base_url("openai"), code=3,
        )  # fmt: skip
    assert err.index("cut off after 77 tokens") < err.index("the disk is full")
