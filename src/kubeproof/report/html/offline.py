"""One HTML file that needs nothing else: its styles, its scripts and its data, under a policy that lets in no more.

The data is JSON in an element that no browser executes. Scripts and styles are those of this package, named in the
policy by their hashes: should a name from a manifest ever become markup, it still could not run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape as escape_html
from importlib.resources import files
from typing import Any

from kubeproof.report.escape import escape

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%234b3fce' "
    "d='M12 1l10 5v7c0 5-4 8-10 10C6 21 2 18 2 13V6z'/%3E%3Cpath fill='none' stroke='%23fff' stroke-width='2.5' "
    "d='M7 12l4 4 6-8'/%3E%3C/svg%3E"
)


def offline_page(title: str, data: object, *, scripts: tuple[str, ...], styles: tuple[str, ...], text: str) -> str:
    """The page; the scripts find the data as JSON in the element `report`. `text` is for readers without scripts."""
    style = "\n".join(_part(name) for name in styles)
    script = '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in scripts) + "\n})();"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<title>{_safe(title)}</title>\n<link rel="icon" href="{_ICON}">\n<style>{style}</style>\n</head>\n<body>\n'
        f"<noscript><pre>{_safe_lines(text)}</pre></noscript>\n"
        f'<script type="application/json" id="report">{_inert(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def clean(value: Any) -> Any:
    """The value with every text made harmless: no control characters, no overrides of the direction of writing."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, (list, tuple)) else value


def _inert(data: object) -> str:
    """JSON that cannot end its element: pure ASCII, without `<`, `>` and `&`."""
    text = json.dumps(clean(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return files("kubeproof.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def _safe(text: str) -> str:
    return escape_html(escape(text))


def _safe_lines(text: str) -> str:
    """Lines of text, whose own line ends stay."""
    return "\n".join(_safe(line) for line in text.split("\n"))
