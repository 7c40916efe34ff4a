"""Formulas of linear temporal logic over predicates of states."""

from __future__ import annotations

from kubeproof.cluster.loops.mentions import Mentions, mention_affinity
from kubeproof.cluster.nodes.daemons import mention_eligibility
from kubeproof.cluster.objects import Setup
from kubeproof.intents.declarations import Intent
from kubeproof.intents.kind import AskedIntent, IntentKind, Targets
from kubeproof.intents.monitor import WORD, Monitor


def _watch(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.predicates.temporal import Temporal

    temporal = Temporal(asked.intent, asked.layout, asked.events)
    return Monitor(asked.intent, None, WORD, needs_relevance=False, temporal=temporal)


def _mention(found: Mentions, setup: Setup) -> None:
    """Adds what predicates read of nodes beside the labels and names that they are given."""
    mention_affinity(found, setup)
    mention_eligibility(found, setup)


def _claim(intent: Intent, who: str, when: str) -> str:
    meant = "; ".join(f"{name} is {text}" for name, text in intent.where)
    return f"{intent.formula}{f', where {meant}' if meant else ''}"


LTL = IntentKind(
    id="T001",
    key="ltl",
    category="any",
    text="Every run satisfies the formula of linear temporal logic; `where` says what its propositions mean.",
    claim=_claim,
    broken_by="A run that does not satisfy the formula: a bad prefix, or a loop in which the good thing never comes.",
    example="ltl: {formula: 'G(low -> F !low)', where: {low: \"ready('Deployment/shop/web') < 2\"}}",
    watch=_watch,
    reads_nodes=_mention,
    typed_fields=("formula", "where"),
    targets=Targets.NONE,
)
