"""A function over many items on threads, results in the order of the items, memory bounded.

Threads, since kernels, deflate and hashing run without the GIL; processes would lose a third of
the gain returning page bytes.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH = 8
"""Items a task: pages take a millisecond each, and batches of 8 to 16 hide the hand-over."""


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int = 0,
    batch: int = BATCH,
) -> Iterator[Result]:
    """``function(item)`` for each of `items`, in their order, on `jobs` threads (0: one a core).

    The caller's thread is one of them: it pulls `items`, at most two batches a thread ahead, and
    works on them where it would wait. A thread more than there are cores would take the GIL from
    the others in their midst. The first error stops all.
    """
    threads = jobs or len(os.sched_getaffinity(0))
    source = iter(items)
    if threads == 1:
        yield from map(function, source)
        return

    def run(group: list[Item]) -> list[Result]:
        return [function(item) for item in group]

    def lend_a_hand() -> bool:
        """Run, in this thread, the first batch that no other has begun; False if there is none."""
        for number, (group, future) in enumerate(ahead):
            if future.cancel():
                ahead[number] = group, _settled(run, group)
                return True
        return False

    ahead: deque[tuple[list[Item], Future[list[Result]]]] = deque()
    pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="snapcompact")
    patient = True
    try:
        while True:
            while len(ahead) <= 2 * threads and (group := list(islice(source, batch))):
                ahead.append((group, pool.submit(run, group)))
            if not ahead:
                break
            if ahead[0][1].done() or not lend_a_hand():
                yield from ahead.popleft()[1].result()
    except KeyboardInterrupt:
        patient = False  # a thread that compiles takes seconds
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)


def _settled(run: Callable[[list[Item]], list[Result]], group: list[Item]) -> Future[list[Result]]:
    """What ``run(group)`` gave or raised, as another thread would have left it."""
    future: Future[list[Result]] = Future()
    try:
        future.set_result(run(group))
    except Exception as error:
        future.set_exception(error)
    return future
