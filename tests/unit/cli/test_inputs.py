import io
import sys

import pytest

from kubeproof.cli.options.inputs import read_stdin
from kubeproof.errors import UsageError
from kubeproof.manifests.yaml.guard import Bounds


def test_stdin_is_read_as_bytes(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"kind: \xff")))

    assert read_stdin() == b"kind: \xff"


def test_an_endless_stdin_is_read_only_as_far_as_the_bound(monkeypatch):
    asked = []

    class Endless:
        buffer = None

        def read(self, size):
            asked.append(size)
            return b""

    endless = Endless()
    endless.buffer = endless
    monkeypatch.setattr(sys, "stdin", endless)

    read_stdin()

    assert asked == [Bounds().file_bytes + 1]


def test_a_closed_stdin_is_wrong_usage(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(UsageError, match="stdin is closed"):
        read_stdin()
