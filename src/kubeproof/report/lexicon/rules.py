"""Rules by which loops leave things as they are: what the explanations of counterexamples name."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation
from kubeproof.verify.reasons.idle_rules import list_rules

PAGE = "docs/how-to/read-a-counterexample.md"


def explain_rules() -> Iterator[Explanation]:
    """Every rule."""
    for rule in list_rules():
        helps = ", ".join(rule.helps)
        facts = (("could help with", helps), ("upstream", rule.upstream))
        yield Explanation(rule.key, "rule", rule.key.replace("-", " "), rule.text, facts, page=PAGE)
