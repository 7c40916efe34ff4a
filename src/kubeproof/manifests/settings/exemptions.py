"""Reads the exemptions of `.kubeproof.yaml`: violations that a project accepts, with a reason, until a day."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError, SettingsError
from kubeproof.intents.catalogue import catalogue
from kubeproof.intents.kind import IntentKind
from kubeproof.manifests.folders.files import read_file
from kubeproof.manifests.settings.config import MAX_BYTES
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping
from kubeproof.values import dataclass

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MOST = Bounds(file_bytes=MAX_BYTES)


@dataclass(frozen=True, slots=True)
class Exemption:
    """A violation that is accepted."""

    id: str  # permanent ID of the property
    target: str  # workload, `*` stands for any part of it; "": any
    intent: str  # its name; "": any
    reason: str
    expires: date | None  # the last day on which it counts
    source: Source


def read_exemptions(path: str, more: Callable[[str], str | None] = lambda text: None) -> tuple[Exemption, ...]:
    """The exemptions of a settings file, in order; anything wrong with them is wrong configuration.

    `more` gives the IDs of what is no property, such as checks, by ID or key.
    """
    try:
        roots = list(read_documents(read_file(path, _MOST), file=printable(path), budget=Budget(_MOST)))
    except ManifestError as problem:
        raise SettingsError(problem.problem, file=problem.file, line=problem.line, remedy=problem.remedy) from None
    if not roots or not isinstance(roots[0], Mapping):
        return ()
    fields = Fields(roots[0], "", Log(printable(path), "settings", SettingsError))
    return tuple(_exemption(child, more) for child in fields.children("exemptions"))


def _exemption(fields: Fields, more: Callable[[str], str | None]) -> Exemption:
    entry = property_named(fields.require_text("id"))
    known = more(fields.require_text("id")) if entry is None else entry.id
    if known is None:
        words = [word for entry in catalogue() for word in (entry.id, entry.key)]
        text = fields.require_text("id")
        fields.fail("id", f"is {printable(text)!r}, which is no property or check", remedy=suggestion(text, words))
    reason = (fields.text("reason") or "").strip()
    if not reason:
        fields.fail("reason", "is required", remedy="Say why this violation is acceptable")
    found = Exemption(
        known, fields.text("target") or "", fields.text("intent") or "", reason, _expires(fields), fields.source
    )
    fields.finish_strictly("id", "target", "intent", "reason", "expires")
    return found


def property_named(text: str) -> IntentKind | None:
    """The property with this ID, key or alias, in any case."""
    word = text.lower()
    names = ((entry, (entry.id, entry.key, *entry.aliases)) for entry in catalogue())
    return next((entry for entry, known in names if word in map(str.lower, known)), None)


def _expires(fields: Fields) -> date | None:
    text = fields.text("expires")
    if text is None:
        return None
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    fields.fail("expires", f"is {printable(text)!r}, which is no day", remedy="Write it as 2026-12-31")
