"""Text from manifests in GitHub-flavoured Markdown, where nothing of it acts."""

from __future__ import annotations

import re

from kubeproof.report.escape import escape

_ACTIVE = re.compile(r"([\\`*_\[\]<>&~|$]|:(?=\w))")  # inside a line; nothing from the input begins one
_BACKTICKS = re.compile(r"`+")
_LINKED = re.compile(r"(@|(?<!&)#|:(?=//)|www(?=\.))")
_SPLIT = "<!-- -->"  # keeps apart what GitHub would make a mention, a reference or a link


def plain(text: str) -> str:
    """A sentence in which no character means anything to Markdown, HTML or GitHub."""
    return _split(_ACTIVE.sub(r"\\\1", escape(text)))


def code(text: str) -> str:
    """A code span, also inside a table: as many backticks around as it takes, bars escaped."""
    shown = escape(text).replace("|", "\\|")
    fence = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown or ' '}{pad}{fence}"


def fence(text: str, language: str) -> str:
    """A block that its text cannot end."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def html(text: str) -> str:
    """Text between tags, where GitHub still looks for mentions and references."""
    from html import escape as escape_html

    return _split(escape_html(escape(text)))


def _split(text: str) -> str:
    """The text without mentions, references and links, which GitHub looks for after Markdown has had its turn."""
    return _LINKED.sub(rf"\1{_SPLIT}", text)


def _longest(text: str) -> int:
    return max((len(found) for found in _BACKTICKS.findall(text)), default=0)
