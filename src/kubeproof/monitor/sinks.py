"""Where alarms go: files, which are exact after a crash, and others, which are told at least once."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import Any, Protocol
from urllib.parse import urlsplit

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.alarms import to_value
from kubeproof.monitor.intake.stream import Numbered

MOST_RECENT = 5_000
Render = Callable[[Numbered], str]  # one line or more, with their ends


class Sink(Protocol):
    """Somebody who is told of alarms; `tell` gives the number of alarms taken, from the first on."""

    def tell(self, alarms: Sequence[Numbered]) -> int: ...


class StreamSink:
    """A function that takes text, such as standard output."""

    def __init__(self, write: Callable[[str], None], render: Render) -> None:
        self._write, self._render = write, render

    def tell(self, alarms: Sequence[Numbered]) -> int:
        """Writes all."""
        self._write("".join(self._render(one) for one in alarms))
        return len(alarms)


class FileSink:
    """A file that grows by one alarm after the other; what a crash left beyond the last transaction is cut off.

    A file that does not hold what the transaction knew, because it is another one or somebody moved it, is written
    anew from the alarms so far.
    """

    def __init__(self, path: str, render: Render, *, length: int | None, before: Sequence[Numbered] = ()) -> None:
        self.path, self._render = path, render
        try:
            goes_on = length is not None and os.path.isfile(path) and os.path.getsize(path) >= length
            self._file = open(path, "ab" if goes_on else "wb")  # noqa: SIM115 - closed by close()
            if goes_on:
                self._file.truncate(length)
            else:
                self.write(before)
        except OSError as problem:
            raise EnvironmentProblem(f"E401 cannot write {printable(path)}: {problem.strerror}.") from None

    def write(self, alarms: Sequence[Numbered]) -> int:
        """Appends the alarms; gives the length of the file."""
        self._file.write("".join(self._render(one) for one in alarms).encode("utf-8", "backslashreplace"))
        self._file.flush()
        return os.fstat(self._file.fileno()).st_size

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Following would ask for the other page without the alarm, and go where nobody sent us."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Makes a redirection an error."""
        return


class Poster:
    """Posts JSON to a URL, a few times if need be."""

    def __init__(
        self, url: str, flag: str, *, attempts: int = 3, timeout_s: float = 5.0,
        wait: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        if not _is_target(url):  # which is not repeated: such addresses hold secrets
            remedy = "It begins with http:// or https:// and has neither user nor blanks in it."
            raise UsageError(f"{flag}: not a URL that can be posted to", remedy)
        self._open = urllib.request.build_opener(_NoRedirect).open
        self._url, self._attempts, self._timeout_s, self._wait = url, attempts, timeout_s, wait or time.sleep

    def post(self, value: object, headers: Mapping[str, str]) -> bool:
        """Whether somebody took it."""
        body = json.dumps(value).encode()
        for attempt in range(self._attempts):
            request = urllib.request.Request(
                self._url, body, {"Content-Type": "application/json", **headers}, method="POST"
            )
            with suppress(OSError, ValueError, HTTPException), self._open(request, timeout=self._timeout_s):
                return True
            if attempt + 1 < self._attempts:
                self._wait(0.2 * 2**attempt)
        return False


class Webhook:
    """A URL that takes one alarm per request as JSON; the alarm's number is in the header `Idempotency-Key`."""

    def __init__(
        self, url: str, *, attempts: int = 3, timeout_s: float = 5.0, wait: Callable[[float], None] | None = None
    ) -> None:
        self._poster = Poster(url, "--webhook", attempts=attempts, timeout_s=timeout_s, wait=wait)
        self.failures = 0

    def tell(self, alarms: Sequence[Numbered]) -> int:
        """Posts the alarms in order; stops at one that nobody takes."""
        for told, (number, alarm) in enumerate(alarms):
            if not self._poster.post(to_value(alarm, number), {"Idempotency-Key": str(number)}):
                self.failures += 1
                return told
        return len(alarms)


class RecentAlarms:
    """The last alarms, for whoever looks in; older ones are in files."""

    def __init__(self, most: int = MOST_RECENT) -> None:
        self._alarms: deque[Numbered] = deque(maxlen=most)

    def tell(self, alarms: Sequence[Numbered]) -> int:
        """Keeps all."""
        self._alarms.extend(alarms)
        return len(alarms)

    def list_all(self) -> list[Numbered]:
        """What is kept at this moment, whoever else is adding to it."""
        return list(self._alarms.copy())


def _is_target(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    is_plain = url.isascii() and url.isprintable() and " " not in url and parts.username is None
    return is_plain and has_port and parts.scheme in ("http", "https") and bool(parts.hostname)
