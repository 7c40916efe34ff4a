"""Properties: what breaks them and how to write them; the rest is in the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.intents.catalogue import catalogue
from kubeproof.intents.kind import IntentKind
from kubeproof.report.lexicon.entry import Explanation
from kubeproof.verify.words.summary import WHEN_WORDS


def properties() -> Iterator[Explanation]:
    """All properties of the library."""
    return (_explanation(entry) for entry in catalogue())


def _explanation(entry: IntentKind) -> Explanation:
    facts = [("category", entry.category), ("fields", ", ".join(entry.fields) or "none")]
    if entry.default_when:
        facts.append(("when", f"{entry.default_when}: {WHEN_WORDS[entry.default_when]}"))
    facts.append(("broken by", entry.broken_by))
    facts += [("also called", ", ".join(entry.aliases))] if entry.aliases else []
    facts.append(("accept it", f'annotation ignore.kubeproof.dev/{entry.id}: "reason", or an exemption'))
    return Explanation(
        entry.id,
        "property",
        entry.key,
        entry.whole_text,
        tuple(facts),
        f"intents:\n- {entry.example}",
        page="docs/reference/intents.md",
        aliases=(entry.key, *entry.aliases),
        brief=entry.text,
    )
