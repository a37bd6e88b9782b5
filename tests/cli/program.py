"""The program run by itself, and what the command line said in this process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.corpus import CASES

SESSION = CASES / "27_unicode_mix.jsonl"

Capture = pytest.CaptureFixture[bytes]


def said(capture: Capture) -> tuple[bytes, str]:
    out, err = capture.readouterr()
    return out, err.decode()


def process(*command: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """`command` run by itself, with the package that is tested."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, capture_output=True, check=False, input=stdin)


def program(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return process(sys.executable, "-m", "snapcompact", *arguments, stdin=stdin)
