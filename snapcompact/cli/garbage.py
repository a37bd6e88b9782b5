"""Python's search for garbage, put off while the program loads.

Loading makes 200,000 objects that all stay. To go through them again and again takes 40 ms, a
tenth of what it takes to archive a short session.
"""

from __future__ import annotations

import gc

MOST_OBJECTS = 300_000
"""So many new ones are looked at in any case."""
_USUAL = gc.get_threshold()


def search_late() -> None:
    """Look for garbage only among very many new objects."""
    gc.set_threshold(MOST_OBJECTS)


def search_as_usual() -> None:
    """All is loaded: leave that alone, and look at new objects as ever; nothing if not put off."""
    if gc.get_threshold()[0] == MOST_OBJECTS:
        gc.freeze()
        gc.set_threshold(*_USUAL)
