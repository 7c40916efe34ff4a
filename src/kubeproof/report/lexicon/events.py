"""Events of a Scenario: what happens, and how to write it."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.events.declarations import manuals
from kubeproof.report.lexicon.entry import Explanation

COMMON = "name, max, after (stable, or another event), probability"


def events() -> Iterator[Explanation]:
    """All events of a Scenario."""
    for key, (_, manual) in manuals().items():
        facts = (("fields", manual.described_fields), ("common fields", COMMON))
        example = f"events:\n- {manual.example}"
        yield Explanation(key, "event", key, manual.text, facts, example, page="docs/reference/events.md")
