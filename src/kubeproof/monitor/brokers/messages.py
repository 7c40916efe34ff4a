"""Messages as events: each message is read like a small file of its own."""

from __future__ import annotations

import hashlib

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.formats import AUTO, READERS, check_events, own_reader, read_lines
from kubeproof.monitor.readers.lines import LONGEST_LINE
from kubeproof.monitor.readers.losses import Lost, refuse

LARGEST = 16 * LONGEST_LINE  # bytes of a message


class MessageReader:
    """Reads messages of one queue. Whatever has no identity is given one, so that copies are recognised."""

    def __init__(self, shown: str, form: str = AUTO) -> None:
        self._shown, self._form = shown, form
        self._own = own_reader(form) if form != AUTO and form not in READERS else None  # loaded once

    def events(self, body: bytes, identity: str = "", lost: Lost = refuse) -> list[Event]:
        """The events of a message; a message that cannot be read is an `EventError`, a part of it is told to `lost`.

        Events without `id` are told apart by the identity of the message, or else by its content, and their place.
        """
        if len(body) > LARGEST:
            raise self._refuse("a message of more than 16 MiB", "Send smaller ones")
        try:
            lines = body.decode("utf-8-sig").splitlines(keepends=True)
        except UnicodeDecodeError:
            raise self._refuse("not valid UTF-8", "Send UTF-8") from None
        found = self._read(lines, lost)
        if all(event.id for event in found):
            return found
        known = identity or hashlib.blake2b(body, digest_size=16).hexdigest()
        return [
            event if event.id else event._replace(id=f"{known}/{place}" if place else known)
            for place, event in enumerate(found)
        ]

    def _read(self, lines: list[str], lost: Lost) -> list[Event]:
        first = next((line for line in lines if not line.isspace()), None)
        if first is None:
            return []
        if any(len(line) > LONGEST_LINE for line in lines):
            raise self._refuse("a line of more than a mebibyte", "Send shorter ones")
        if self._own is not None:
            return list(check_events(self._own(lines, self._shown), self._shown, self._form))
        if self._form == AUTO and not first.lstrip().startswith(("{", "[")):  # a word is no table with one header
            raise self._refuse("not JSON", "Send JSON, or name the --format")
        return list(read_lines(iter(lines), self._shown, self._form, lost))

    def _refuse(self, problem: str, remedy: str) -> EventError:
        return EventError(problem, file=self._shown, line=0, remedy=remedy)
