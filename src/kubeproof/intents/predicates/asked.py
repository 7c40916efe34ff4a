"""What the predicates of an intent ask for, before it is made ready for a layout; most intents have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubeproof.cluster.labels import Requirement
from kubeproof.cluster.loops.mentions import Mentions, mention_requirements
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.intents.declarations import Intent
from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.intents.predicates.expressions import Call


class Mentioned(NamedTuple):
    """What an intent's predicates read of nodes: such nodes are kept apart from others."""

    names: tuple[str, ...] = ()
    topology: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()


class EventMemory(NamedTuple):
    """Where an event remembers what it has done, and what it remembers before it has happened."""

    number: int
    first: tuple[int, ...]


def calls_of(intent: Intent) -> tuple[Call, ...]:
    """All calls in the predicates of an intent; none for intents that have no predicates."""
    if not intent.where:
        return ()
    from kubeproof.intents.predicates.expressions import calls, parse_predicate

    return tuple(call for _, text in intent.where for call in calls(parse_predicate(text)))


def mention_nodes(found: Mentions, intent: Intent, setup: Setup) -> None:
    """Adds what an intent reads of nodes."""
    from kubeproof.intents.catalogue import entry

    entry(intent.key).reads_nodes(found, setup)
    found.topology |= {intent.topology_key} - {""}
    mention_requirements(found, intent.nodes.requirements if intent.nodes else ())
    found.names |= set(intent.node_names or ())
    read = find_mentioned(intent)
    found.names |= set(read.names)
    found.topology |= set(read.topology)
    mention_requirements(found, read.requirements)


def find_mentioned(intent: Intent) -> Mentioned:
    """What the predicates read of nodes."""
    if not intent.where:
        return Mentioned()
    from kubeproof.cluster.api.selector_text import selector_from

    found = calls_of(intent)
    names = [call.text("node") if call.name == "on" else call.text("name") for call in found]
    keys = [call.text("topologyKey") for call in found]
    selectors = [selector_from(call.text("selector") or "") for call in found if call.name in ("on", "nodes")]
    return Mentioned(
        tuple(name for name in names if name is not None),
        tuple(key for key in keys if key is not None),
        tuple(requirement for selector in selectors for requirement in selector.requirements),
    )


def targets_of(intent: Intent) -> tuple[str, ...]:
    """The workloads that the predicates name, as they write them."""
    return tuple(target for call in calls_of(intent) if (target := call.text("target")) is not None)


def find_targeted(workloads: Iterable[Workload], target: str) -> list[int]:
    """The workloads that `Kind/name`, `Kind/namespace/name` or `*/namespace/name` names, later revisions aside."""
    parts = target.split("/")
    if len(parts) == 2:
        parts = [parts[0], "default", parts[1]]
    if len(parts) != 3:
        return []
    kind, namespace, name = parts
    return [
        index
        for index, w in enumerate(workloads)
        if w.owner is None and (w.namespace, w.name) == (namespace, name) and kind in ("*", w.kind)
    ]


def events_asked(intent: Intent) -> tuple[str, ...]:
    """The events whose occurrence the predicates ask for."""
    return tuple(name for call in calls_of(intent) if call.name == "happened" and (name := call.text("event")))


def most_failed_asked(intent: Intent) -> int:
    """Up to how many failed pods the predicates need to know; 0 if they never ask."""
    return 1 + _largest_number(intent) if any(call.name == "failed" for call in calls_of(intent)) else 0


def most_terminating_asked(intent: Intent) -> int:
    """Up to how many terminating pods the predicates compare with; 0 if they never ask."""
    return _largest_number(intent) if any(call.name == "terminating" for call in calls_of(intent)) else 0


def list_followed_targets(intent: Intent) -> tuple[str, ...]:
    """The targets of which the intent asks whether pods that terminate get traffic."""
    from kubeproof.intents.catalogue import entry

    if entry(intent.key).follows_traffic:
        return () if intent.target is None else (intent.target,)
    return tuple(str(call.text("target")) for call in calls_of(intent) if call.name == "misrouted")


def _largest_number(intent: Intent) -> int:
    """The largest number in the predicates."""
    from kubeproof.intents.predicates.expressions import constants, parse_predicate

    return max((n for _, text in intent.where for n in constants(parse_predicate(text))), default=0)
