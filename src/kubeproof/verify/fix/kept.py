"""Answers of the verifier that are written down, so that a search for repairs that was broken off goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.fix.judging import Effort, Judge
from kubeproof.verify.fix.outcomes import Key, Level, Outcome, Outcomes
from kubeproof.verify.journal.binding import digest_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal
from kubeproof.verify.journal.verification import RESULT_CLASSES, binding_for
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult

CODEC = Codec(Outcome, Level, *RESULT_CLASSES)
EVERYTHING = "everything"


class Record(Protocol):
    """Where answers are kept, by key."""

    def read_known(self) -> dict[str, object]: ...

    def add(self, key: str, value: object) -> None: ...


def open_journal(
    directory: str, loaded: Loaded, options: VerifyOptions, faults: tuple[str, ...], *, resume: bool
) -> Journal:
    """A journal that belongs to this input and question; which edits are allowed may differ when a search goes on."""
    binding = binding_for(loaded, options, {"faults": ",".join(faults), "asks": "for repairs"}, ())
    return Journal(Path(directory), binding, CODEC, resume=resume)


class KeptJudge:
    """A judge whose decided answers are written down, and asked for again nowhere.

    Answers belong to the texts that were verified: inputs have to keep theirs. What a limit left open is asked again.
    """

    def __init__(self, judge: Judge, record: Record) -> None:
        self._judge, self._record, self._known = judge, record, record.read_known()

    @property
    def enough(self) -> Level:
        return self._judge.enough

    def describe(self, key: Key) -> str:
        return self._judge.describe(key)

    def ask_all(self, loaded: Loaded, effort: Effort) -> Outcomes:
        key = _key_of(loaded, EVERYTHING)
        known = self._read(key)
        return self._note(key, self._judge.ask_all(loaded, effort)) if known is None else known

    def ask(self, loaded: Loaded, keys: Iterable[Key], effort: Effort) -> Outcomes:
        wanted = tuple(keys)
        key = _key_of(loaded, json.dumps(wanted))
        known = self._read(key)
        return self._note(key, self._judge.ask(loaded, wanted, effort)) if known is None else known

    def still_breaks(self, loaded: Loaded, one: IntentResult) -> bool:
        return self._judge.still_breaks(loaded, one)

    def _read(self, key: str) -> Outcomes | None:
        known = self._known.get(key)
        return dict(known) if isinstance(known, (tuple, list)) else None

    def _note(self, key: str, outcomes: Outcomes) -> Outcomes:
        if outcomes and all(one.level != Level.OPEN for one in outcomes.values()):
            self._known[key] = tuple(outcomes.items())
            self._record.add(key, self._known[key])
        return outcomes


def _key_of(loaded: Loaded, question: str) -> str:
    return digest_of([question, *(part for text in loaded.texts for part in text)])
