"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# No deadlines: a first call compiles a kernel, and machines that run tests are shared.
settings.register_profile("snapcompact", deadline=None)
settings.load_profile("snapcompact")
