"""Vision readers against real servers on 127.0.0.1: nothing lost, nothing billed twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from snapcompact.errors import ModelError, UsageError
from snapcompact.llm.client import PROTOCOLS, Client, Retry
from snapcompact.llm.contract import Completion, Endpoint, Stop
from snapcompact.readback.answers import Answers
from snapcompact.readback.prompt import parse_answer
from snapcompact.readback.reader import PagePicture, read_pages
from snapcompact.readback.spend import Budget, page_bill, usd, whole_bill
from snapcompact.readback.vision import VisionReader, open_vision
from tests.readback.pages import made_page
from tests.servers.script import Fail, HangUp, Raw, Say, Step
from tests.servers.server import Server, serve

PROTOCOL = pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
PRICED = "anthropic:claude-sonnet-5"


async def _no_wait(seconds: float) -> None:
    """Stands for the wait between attempts."""


@contextmanager
def reading(
    folder: Path, protocol: str, *steps: Step, again: bool = False, jobs: int = 0
) -> Iterator[tuple[VisionReader, Server]]:
    with serve(*steps) as server:
        endpoint = Endpoint(protocol, "claude-sonnet-5", "key", server.base_url(protocol))
        client = Client(endpoint, Retry(), _no_wait)
        name = f"{protocol}:claude-sonnet-5"
        yield open_vision(name, Answers(folder), client, again=again, jobs=jobs), server


def pages(count: int) -> list[PagePicture]:
    return [made_page(f"page {number}\n")[1] for number in range(count)]


def answer(*rows: str) -> Say:
    return Say("<page>\n" + "\n".join(rows) + "\n</page>")


@PROTOCOL
def test_an_answer_is_rows_and_is_asked_once(protocol: str, tmp_path: Path) -> None:
    with reading(tmp_path, protocol, answer("one⏎two", " ⇥x�")) as (reader, server):
        first = reader.read_page(made_page()[1])
        again = reader.read_page(made_page()[1])
        assert len(server.asked) == 1
    assert first.rows == ("one\ntwo", " \tx�")
    assert first.whole
    assert again == first
    with reading(tmp_path, protocol, Say("never")) as (reader, server):
        assert reader.read_page(made_page()[1]) == first
        assert not server.asked


@PROTOCOL
def test_what_can_wait_is_sent_again_and_the_rest_is_kept(protocol: str, tmp_path: Path) -> None:
    steps = (
        Fail(429, "slow down", "rate_limit_error", {"retry-after": "1"}),
        Fail(503, "overloaded"),
        answer("row"),
    )
    with reading(tmp_path, protocol, *steps) as (reader, server):
        assert reader.read_page(made_page()[1]).rows == ("row",)
        assert len(server.asked) == 3


@PROTOCOL
def test_a_broken_answer_is_kept_and_asked_again_only_on_demand(
    protocol: str, tmp_path: Path
) -> None:
    begun = HangUp(3, Say("<page>\nfirst row\nsecond row\nthird row and more\n</page>"))
    with reading(tmp_path, protocol, begun) as (reader, server):
        torn = reader.read_page(made_page()[1])
        assert not torn.whole
        assert reader.read_page(made_page()[1]) == torn
        assert len(server.asked) == 1
    with reading(tmp_path, protocol, answer("whole"), again=True) as (reader, server):
        assert reader.read_page(made_page()[1]).rows == ("whole",)
        assert reader.read_page(made_page()[1]).whole
        assert len(server.asked) == 1


@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_cut_and_refused_answers_are_not_whole_and_not_asked_again(
    stop: str, tmp_path: Path
) -> None:
    cut = Say("<page>\nhalf a", stop=stop)
    with reading(tmp_path, "anthropic", cut) as (reader, server):
        read = reader.read_page(made_page()[1])
        assert (read.whole, read.rows) == (False, ("half a",))
        assert read.note
        reader.read_page(made_page()[1])
        assert len(server.asked) == 1


def test_garbage_and_refused_requests_are_notes(tmp_path: Path) -> None:
    with reading(tmp_path, "openai", Raw(b"<html>"), Fail(400, "too large")) as (reader, _):
        one, two = pages(2)
        assert not reader.read_page(one).whole
        assert "too large" in reader.read_page(two).note
        assert reader.wanted(two)


def test_a_refused_key_ends_it(tmp_path: Path) -> None:
    with reading(tmp_path, "openai", Fail(401, "no")) as (reader, _), pytest.raises(ModelError):
        reader.read_page(made_page()[1])


def test_pages_come_back_in_order_and_equal_pages_are_asked_once(tmp_path: Path) -> None:
    given = [*pages(5), *pages(5)]
    with reading(tmp_path, "anthropic", answer("row"), jobs=4) as (reader, server):
        assert len(list(read_pages(reader, given))) == 10
        assert len(server.asked) == 5


def test_answers_with_no_page_or_several() -> None:
    assert parse_answer(Completion("just\nrows", Stop.END)).rows == ("just", "rows")
    two = parse_answer(Completion("<page>\na\n</page>\n<page>\nb\n</page>", Stop.END))
    assert two.rows == ("a",)
    assert not two.whole
    assert "2 pages" in two.note


def test_a_spend_limit_stops_before_it_is_passed(tmp_path: Path) -> None:
    said = replace(answer("row"), input_tokens=10, output_tokens=1)
    with reading(tmp_path, "anthropic", said) as (reader, server):
        one = page_bill(reader.found, made_page()[1])
        assert one.usd is not None
        bounded = replace(reader, budget=Budget(reader.found, one.usd * 1.5))
        notes = [bounded.read_page(page).note for page in pages(3)]
        # What was billed takes the place of what was set aside, so all three fit.
        assert notes == ["", "", ""]
        assert bounded.budget.spent_usd == pytest.approx(3 * (usd(reader.found, 10, 1) or 0))
        tight = replace(reader, budget=Budget(reader.found, one.usd * 0.9))
        asked = len(server.asked)
        assert "spend limit" in tight.read_page(made_page("another\n")[1]).note
        assert len(server.asked) == asked


def test_a_limit_without_a_price_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="price"):
        open_vision("openai:my-own-model", Answers(tmp_path), None, max_usd=1)


def test_a_bill_adds_up(tmp_path: Path) -> None:
    reader = open_vision(PRICED, Answers(tmp_path), None)
    bills = [page_bill(reader.found, page) for page in pages(3)]
    bill = whole_bill(reader.found, pages(3))
    assert bill.pages == 3
    assert bill.input_tokens == sum(b.input_tokens for b in bills)
    assert bill.usd == pytest.approx(sum(b.usd or 0 for b in bills))


def test_a_budget_holds_across_threads(tmp_path: Path) -> None:
    reader = open_vision(PRICED, Answers(tmp_path), None)
    bill = page_bill(reader.found, made_page()[1])
    budget = Budget(reader.found, (bill.usd or 0) * 10.5)
    taken: list[bool] = []
    threads = [
        threading.Thread(target=lambda: taken.append(budget.set_aside(bill))) for _ in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(taken) == 10
