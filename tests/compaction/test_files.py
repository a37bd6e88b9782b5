from __future__ import annotations

import pytest

from snapcompact.compaction.branch import branch_input, left_behind
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import Entry, Files, Kind, Mark
from snapcompact.compaction.files import (
    FileOps,
    FileRules,
    file_lists,
    file_ops,
    files_text,
    merged,
    split_selector,
    without_lists,
)
from snapcompact.compaction.policy import preset
from snapcompact.history.model import Message, Role, ToolCall
from tests.compaction.generated import answer, entries_of, result, user

POLICY = preset()


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("src/a.ts", ("src/a.ts", "")),
        ("src/a.ts:50", ("src/a.ts", "50")),
        ("src/a.ts:50-200", ("src/a.ts", "50-200")),
        ("src/a.ts:50+20", ("src/a.ts", "50+20")),
        ("a:1-2,5-9", ("a", "1-2,5-9")),
        ("a:raw", ("a", "raw")),
        ("a:raw:1-2", ("a", "raw:1-2")),
        ("C:\\x.txt", ("C:\\x.txt", "")),
        ("a:b", ("a:b", "")),
        ("a:3..9", ("a", "3..9")),
        ("a:L5-L9", ("a", "L5-L9")),
        ("a:7-", ("a", "7-")),
        ("a:RAW", ("a", "RAW")),
        ("a:conflicts", ("a", "conflicts")),
        ("a:1-2:raw", ("a", "1-2:raw")),
        ("a:1:2", ("a:1", "2")),
        ("skill://x", ("skill://x", "")),
        (":5", (":5", "")),
    ],
)
def test_selectors(path: str, parts: tuple[str, str]) -> None:
    assert split_selector(path) == parts


def calls(*pairs: tuple[str, bytes]) -> Message:
    return Message(
        Role.ASSISTANT,
        tuple(ToolCall(str(n), name, args) for n, (name, args) in enumerate(pairs)),
    )


def test_lists_come_from_calls_alone() -> None:
    message = calls(
        ("read", b'{"path":"b.py:1-9"}'), ("edit", b'{"file_path":"a.py"}'),
        ("read", b'{"path":"a.py"}'), ("write", b'{"path":"c.py"}'), ("bash", b'{"path":"z"}'),
        ("read", b"{"), ("read", b'{"path":1}'), ("read", b'{"path":"https://x/y"}'),
    )  # fmt: skip
    found = file_ops([message], POLICY.files)
    assert file_lists(found, POLICY.files) == Files(("b.py",), ("a.py", "c.py"))


def test_an_extensions_lists_are_not_carried() -> None:
    ops = FileOps(frozenset({"a"}))
    own = Entry("c", Kind.COMPACTION, mark=Mark("", files=Files(("r",), ("m",))))
    foreign = Entry("d", Kind.COMPACTION, mark=Mark("", files=Files(("x",), ("y",)), foreign=True))
    found = merged(ops, [own, foreign])
    assert file_lists(found, POLICY.files) == Files(("a", "r"), ("m",))


def test_long_lists_are_capped_with_a_count() -> None:
    files = Files(tuple(f"f{n:03}" for n in range(30)), ())
    text = files_text(files, FileRules(limit=20))
    assert text.count("\nf") == 20
    assert "(and 10 more)" in text
    tree = files_text(Files(("a", "b"), ("b", "c")), FileRules(style="tree"))
    assert tree == "\n\n<files>\na (Read)\nb (RW)\nc (Write)\n</files>"
    assert files_text(Files(), FileRules()) == ""


def test_a_left_branch_from_the_common_ancestor() -> None:
    old = entries_of([user("a"), answer("b"), user("c"), result("1"), answer("d")])
    new = (*old[:2], Entry("n", Kind.MESSAGE, user("other"), "e1"))
    left, ancestor = left_behind(old, new)
    assert (ancestor, [entry.id for entry in left]) == ("e1", ["e2", "e3", "e4"])
    estimate = rule_estimator(POLICY.tokens)
    found = branch_input(left, 0, estimate, POLICY.branch, POLICY.files)
    assert [item.id for item in found.items] == ["e2", "e4"]
    assert left_behind(old, ()) == (old, "")


@pytest.mark.parametrize("style", ["tags", "tree"])
@pytest.mark.parametrize("count", [2, 5])
def test_lists_come_back_from_a_summary_that_has_no_other_place_for_them(
    style: str, count: int
) -> None:
    names = tuple(f"dir/f {n}.py" for n in range(count))
    rules = FileRules(style=style, limit=4)
    summary = "## Goal\nGo on." + files_text(Files(names, ("z.py",)), rules)
    entry = Entry("1", Kind.COMPACTION, mark=Mark(summary))
    found = merged(FileOps(), [entry])
    assert found.read == frozenset(names[:4])
    assert found.edited == frozenset(["z.py"] if style == "tags" or count < 4 else [])
    assert without_lists(summary) == "## Goal\nGo on."
    known = Entry("1", Kind.COMPACTION, mark=Mark(summary, files=Files(("own",), ())))
    assert merged(FileOps(), [known]).read == {"own"}
