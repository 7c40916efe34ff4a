"""All checks by topic; a topic is imported when an input has something that it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from kubeproof.manifests.loaded import Loaded
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.checks.declaration import Check


class Topic(NamedTuple):
    """A module with checks, and the inputs that it may find something in."""

    module: str
    concerns: Callable[[Loaded], object]


TOPICS = (
    Topic("fields", lambda loaded: True),
    Topic("selectors", lambda loaded: loaded.wiring.services or loaded.wiring.selections or loaded.setup.budgets),
    Topic("references", lambda loaded: loaded.wiring.references or loaded.setup.autoscalers),
    Topic("ports", lambda loaded: loaded.wiring.services or any(pods.probes for pods in loaded.wiring.pods)),
    Topic("autoscalers", lambda loaded: loaded.setup.autoscalers or loaded.setup.verticals),
    Topic("budgets", lambda loaded: loaded.setup.budgets),
    Topic("placement", lambda loaded: loaded.setup.nodes),
    Topic("daemons", lambda loaded: any(one.rules.runs_per_node for one in loaded.setup.workloads)),
    Topic("admission", lambda loaded: loaded.setup.quotas or any(one.refused for one in loaded.setup.workloads)),
    Topic("workloads", lambda loaded: loaded.setup.workloads),
    Topic("unprotected", lambda loaded: loaded.setup.nodes and not loaded.assumed),
    Topic("reading", lambda loaded: loaded.notes),
    Topic("descheduling", lambda loaded: loaded.setup.descheduler),
)


def checks_of(topic: Topic) -> tuple[Check, ...]:
    """The checks of a topic, in the order of their IDs."""
    found: tuple[Check, ...] = import_module(f"kubeproof.verify.checks.topics.{topic.module}").CHECKS
    return found


def checks() -> tuple[Check, ...]:
    """All checks, in the order of their IDs."""
    return tuple(sorted((check for topic in TOPICS for check in checks_of(topic)), key=lambda check: check.id))


def check_id(text: str) -> str | None:
    """The ID of the check with this ID or key."""
    found = check_named(text)
    return None if found is None else found.id


def check_named(text: str) -> Check | None:
    """The check with this ID or key, in any case."""
    word = text.lower()
    return next((check for check in checks() if word in (check.id.lower(), check.key)), None)
