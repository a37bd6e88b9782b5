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

    `items` is pulled by the caller's thread, at most two batches a thread ahead. The first error
    stops all.
    """
    threads = jobs or len(os.sched_getaffinity(0))
    source = iter(items)
    if threads == 1:
        yield from map(function, source)
        return

    def run(group: list[Item]) -> list[Result]:
        return [function(item) for item in group]

    ahead: deque[Future[list[Result]]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="snapcompact")
    patient = True
    try:
        while group := list(islice(source, batch)):
            ahead.append(pool.submit(run, group))
            if len(ahead) > 2 * threads:
                yield from ahead.popleft().result()
        while ahead:
            yield from ahead.popleft().result()
    except KeyboardInterrupt:
        patient = False  # a thread that compiles takes seconds
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)
