"""Pieces of what a notebook shows; text of manifests is hostile, and escaped here."""

from __future__ import annotations

from html import escape as escape_html

from kubeproof.report.escape import escape


def escape_lines(text: str) -> str:
    """The text for HTML, line by line."""
    return "\n".join(escape_html(escape(line)) for line in text.splitlines())


def preformatted(head: str, text: str) -> str:
    """A headline, and below it a text as it stands."""
    shown = f"<pre>{escape_lines(text)}</pre>" if text else ""
    return f"<div><p><b>{escape_lines(head)}</b></p>{shown}</div>"


def fold(title: str, text: str) -> str:
    """A text that is shown when somebody opens it."""
    return f"<details><summary>{escape_lines(title)}</summary><pre>{escape_lines(text)}</pre></details>"
