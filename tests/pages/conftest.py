"""Fixtures of the page tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.font import made_up_atlas

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas


@pytest.fixture(scope="session")
def atlas() -> Atlas:
    return made_up_atlas()
