"""Names of requests: few, so that rules can be about them; identities become `{id}`."""

from __future__ import annotations

import re

MOST = 200  # characters of a path
_IDENTITY = re.compile(
    r"(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9]+|[0-9a-f]{16,}|req-[0-9a-f-]+)"
)


def request_name(method: str, path: str) -> str:
    """`POST /servers/{id}/action` for a request to /servers/0b9e…/action?x=y."""
    parts = path.partition("?")[0][:MOST].split("/")
    shown = "/".join("{id}" if _IDENTITY.fullmatch(part) else part for part in parts)
    return f"{method.upper()} {shown or '/'}"
