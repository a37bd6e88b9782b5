"""Work on threads: shared with the caller's, in order, and broken off."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Event, get_ident

import pytest

from snapcompact.pages.parallel import in_order


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("batch", [1, 3])
def test_results_have_the_order_of_the_items(jobs: int, batch: int) -> None:
    assert list(in_order(str, range(50), jobs=jobs, batch=batch)) == [str(n) for n in range(50)]


def test_the_caller_is_one_of_the_threads() -> None:
    both = Barrier(2)  # which no thread alone passes

    def meet(number: int) -> int:
        both.wait(60)
        return get_ident()

    threads = set(in_order(meet, range(40), jobs=2, batch=1))
    assert len(threads) == 2
    assert get_ident() in threads


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_an_error_comes_in_its_turn(jobs: int) -> None:
    results = in_order(lambda n: 60 // (30 - n), range(40), jobs=jobs, batch=1)
    assert [next(results) for _ in range(30)] == [60 // (30 - n) for n in range(30)]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_ctrl_c_does_not_wait_for_a_thread_that_compiles() -> None:
    compiled = Event()

    def items() -> Iterator[Event]:
        yield compiled
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_order(Event.wait, items(), jobs=2, batch=1))
    assert not compiled.is_set()
    compiled.set()


def test_ctrl_c_reaches_the_callers_own_work() -> None:
    caller, come = get_ident(), Event()

    def work(number: int) -> None:
        if get_ident() == caller:
            come.set()
            raise KeyboardInterrupt
        come.wait()

    with pytest.raises(KeyboardInterrupt):
        list(in_order(work, range(40), jobs=2, batch=1))
