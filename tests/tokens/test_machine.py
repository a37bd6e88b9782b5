"""The machine cuts where tokenizers do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snapcompact.tokens.machine import ROW_COUNT, ROW_SIZE, Style, machine
from snapcompact.tokens.table import Table, load_table
from tests.reference.features import words_of

PLAIN = load_table("o200k")
BLANKS = load_table("claude-3")


def cut(text: str, table: Table) -> list[str]:
    return [word.decode() for word, _ in words_of(text.encode(), table)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the quick fox", "the| quick| fox"),
        ("self.name", "self|.name"),
        ("camelCase HTTPServer", "camel|Case| HTTPServer"),
        ("if (x) {", "if| (|x|)| {"),
        ("f();\n    g()", "f|();\n|   | g|()"),
        ("a\n\n\tb", "a|\n\n|\tb"),
        ("x = 12345", "x| =| |123|45"),
        ("don't", "don|'t"),
        ("日本 語", "日|本| 語"),
        ("привет, мир", "привет|,| мир"),
        ("ok 😀", "ok| 😀"),
        ("-" * 130, "|".join(["-" * 64, "-" * 64, "--"])),
    ],
)
def test_cuts_as_the_openai_patterns_do(text: str, words: str) -> None:
    assert cut(text, PLAIN) == words.split("|")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("self.name", "self|.|name"),
        ("f();\n    g()", "f|();|\n   | g|()"),
        ("a\n\n\tb", "a|\n\n\t|b"),
    ],
)
def test_other_styles_keep_blanks_with_line_ends(text: str, words: str) -> None:
    assert cut(text, BLANKS) == words.split("|")


@pytest.mark.parametrize(
    ("digits", "words"),
    [("last-alone", "a|  | |1"), ("whole", "a|   |1"), ("last-leads", "a|  | 1")],
)
def test_blanks_before_digits(digits: str, words: str) -> None:
    style = Style(blanks_before_digits=digits)
    assert cut("a   1", replace(PLAIN, style=style)) == words.split("|")


@pytest.mark.parametrize("family", ["o200k", "claude-3", "claude-4.7", "deepseek"])
def test_tables_stay_in_bounds(family: str) -> None:
    signs, moves, rows = machine(load_table(family).style)
    assert signs.shape == (256,)
    assert int((signs >> 8).max()) < 128
    assert moves.shape == (4096,)
    assert int((moves >> 8).max()) < 16
    assert int(rows.max()) == (ROW_COUNT - 1) * ROW_SIZE
