"""Work on threads that is broken off."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest

from snapcompact.pages.parallel import in_order


def test_ctrl_c_does_not_wait_for_a_thread_that_compiles() -> None:
    compiled = Event()

    def items() -> Iterator[Event]:
        yield compiled
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_order(Event.wait, items(), jobs=2, batch=1))
    assert not compiled.is_set()
    compiled.set()
