"""The formats of a finished verification that are text for other programs, each in the module of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.report.frame import Frame
    from kubeproof.verify.result import VerifyResult

FORMATS = ("junit", "sarif", "github", "markdown", "ndjson", "mermaid", "itf")


def render(name: str, result: VerifyResult, frame: Frame) -> str:
    """The report in one of the formats."""
    text: str = import_module(f"kubeproof.report.formats.{name}").render(result, frame)
    return text
