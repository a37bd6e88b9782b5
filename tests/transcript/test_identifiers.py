from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.transcript.identifiers import (
    KINDS,
    Identifier,
    find_identifiers,
    line_blocks,
    misread_chance,
)

CASE = Path(__file__).parents[1] / "cases" / "28_zero_vs_oh_identifiers.jsonl"

KNOWN = {
    "uuid": ["d0c0ffee-0000-4000-8000-0000000b0b00", "D0C0FFEE-0000-4000-8000-0000000B0B00"],
    "hash": ["9c4e0b8", "9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708", "ABCDEF012345"],
    "path": [
        "/opt/O0/lib1l/I1.so", "src/main.py", "./a/b", "../up/one", "~/notes/", "a/b/c",
        "setup.cfg", "$HOME/bin/tool", "@scope/pkg/index.d.ts", "/etc/hosts",
    ],
    "url": ["https://example.org/a?b=1&c=2#frag", "postgres://localhost:5432/db"],
    "number": ["12345", "0xBEEF", "1700000000.25", "1_000_000"],
    "version": ["1.2.3", "v2.0", "10.0.0.1", "1.0.0-rc.1"],
    "flag": ["--no-cache", "--dry_run"],
    "constant": ["MAX_PAGE_BYTES", "E_2BIG"],
    "code": ["srv-O0O0", "TS2345", "CVE-2024-12345", "#1234", "kHK-HKH", "lI1", "rn-m",
             "api-7d9f8b-x2x4z"],
    "name": ["camelCase", "PascalCase", "snake_case", "self.some_name", "localratelimitv3"],
}  # fmt: skip

words = st.sampled_from([word for kind in KNOWN.values() for word in kind])
fillers = st.sampled_from(
    [
        "the",
        " ",
        "\n",
        ", ",
        "(",
        ")",
        "«",
        "…",
        "é",
        "使用",
        "\\",
        "\\n",
        '"',
        "</out>\n",
        "=",
        "\n<out id=",
    ]
)
texts = st.lists(st.one_of(words, fillers), max_size=40).map("".join)


@pytest.mark.parametrize(("kind", "word"), [(k, w) for k, ws in KNOWN.items() for w in ws])
@pytest.mark.parametrize("around", ["%s", "say %s, then", "(%s)", '"%s"', "\n%s\n", "使用%s。"])
def test_each_kind_is_found(kind: str, word: str, around: str) -> None:
    if "/" in word and "使" in around:
        pytest.skip("a path beside such a letter may go on there")
    found = find_identifiers([(around % word).encode()])
    assert (kind, word.encode()) in {(i.kind, i.text) for i in found}


def test_the_table_of_kinds_is_covered() -> None:
    assert set(KNOWN) == set(KINDS)


@given(texts)
def test_an_identifier_stands_in_the_text_byte_for_byte(text: str) -> None:
    data = text.encode()
    for found in find_identifiers([data]):
        end = found.offset + len(found.text)
        assert data[found.offset : end] == found.text
        assert found.count >= 1
        assert not data[found.offset - 1 : found.offset].isalnum()
        assert not data[end : end + 1].isalnum()


@given(texts, st.integers(1, 30))
def test_blocks_do_not_change_what_is_found(text: str, size: int) -> None:
    data = text.encode()
    blocks = list(line_blocks(data, size))
    assert b"".join(blocks) == data
    assert find_identifiers(blocks) == find_identifiers([data])


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(data: bytes) -> None:
    find_identifiers([data])


@pytest.mark.parametrize(
    "text",
    [
        "café_name", "naïve_thing", "Größe12345", r"a\nsome_name", r"\some_name",
        "/home/用户/file.txt", "/home/é/file.txt", "</some_tag>", "x" * 400 + "_y",
        "plain words only, and/or more",
        "12 34 1234", "3.14",
    ],
)  # fmt: skip
def test_what_is_no_whole_identifier_is_left_out(text: str) -> None:
    assert find_identifiers([text.encode()]) == []


def test_escapes_of_a_calls_arguments_end_words() -> None:
    call = b'\xc2\xb6+call:Bash({"command": "cat one_file\\ntwo_file\\u00e9x \\"three_file\\""})\n'
    found = {i.text for i in find_identifiers([call])}
    assert {b"one_file", b"two_file", b"three_file"} <= found


def test_ids_of_results_are_no_identifiers() -> None:
    text = b"<out call=1 id=toolu_01WatJm9watABh3LeKKhQMbF>\nsome_name\n</out>\n"
    assert [i.text for i in find_identifiers([text])] == [b"some_name"]
    later = find_identifiers([text + b"see toolu_01WatJm9watABh3LeKKhQMbF\n"])
    assert [i.offset for i in later] == [text.find(b"some_name"), len(text) + 4]


def test_punctuation_and_diff_signs_are_no_part() -> None:
    found = [(i.text, i.offset) for i in find_identifiers([b"+some_name.\n-other_name,"])]
    assert found == [(b"some_name", 1), (b"other_name", 13)]


def test_the_least_valuable_drop_out_and_always_the_same() -> None:
    lines = [b"plain_name%s\n" % (b"x" * n) for n in range(60)]
    lines += [b"%08x\n" % (n * 0x9E3779B1 % 2**32) for n in range(60)]
    kept = find_identifiers(lines, most=64)
    assert len(kept) <= 64
    assert kept == find_identifiers(lines, most=64)
    hashes = sum(i.kind != "name" for i in kept)
    assert hashes > len(kept) - hashes


@given(words, words)
def test_chances_are_chances(one: str, other: str) -> None:
    both = misread_chance((one + other).encode())
    assert 0 <= misread_chance(one.encode()) <= 1
    assert 0 <= both <= 1


def test_what_is_easily_misread_is_worth_more() -> None:
    assert misread_chance(b"9c4e0b8d1a2f") > misread_chance(b"some_long_plain_name")
    rare, common = (Identifier("hash", b"9c4e0b8", 0, n) for n in (1, 20))
    assert rare.value > common.value


def test_case_28_every_look_alike_is_found() -> None:
    records = [json.loads(line) for line in CASE.read_text().splitlines()]
    contents = [r["content"] for r in records if r["content"]]
    calls = [c["function"]["arguments"] for r in records for c in r.get("tool_calls", [])]
    found = {i.text.decode() for i in find_identifiers(["\n".join(contents + calls).encode()])}
    wanted = (
        "srv-O0O0 srv-0O0O srv-00OO db-l1I1 db-1lIl q5S-8B8 qS5-B8B kHK-HKH rn-m vv-w 7f0O 7f00"
    )
    wanted += (
        " 0x0000BEEF0000 0xOOOOBEEFOOOO d0c0ffee-0000-4000-8000-0000000b0b00 O0O0O0O0 0O0O0O0O"
    )
    wanted += " 9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708 AKQ-0017-OO17-0O17 /opt/O0/lib1l/I1.so"
    wanted += " lI1 Z2Z2-5S5S"
    assert set(wanted.split()) <= found
