"""Facts about what only some clusters have, by name: their modules are imported when the first one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.late import LateClass

if TYPE_CHECKING:
    from kubeproof.intents.daemon_facts import DaemonRolloutComplete, RunsOnEveryNode
    from kubeproof.intents.job_facts import AllComplete
    from kubeproof.intents.stateful_facts import StatefulRolloutComplete
    from kubeproof.intents.traffic_facts import LoadSkewAtMost, NothingMisrouted
else:
    DaemonRolloutComplete = LateClass("kubeproof.intents.daemon_facts", "DaemonRolloutComplete")
    RunsOnEveryNode = LateClass("kubeproof.intents.daemon_facts", "RunsOnEveryNode")
    AllComplete = LateClass("kubeproof.intents.job_facts", "AllComplete")
    StatefulRolloutComplete = LateClass("kubeproof.intents.stateful_facts", "StatefulRolloutComplete")
    LoadSkewAtMost = LateClass("kubeproof.intents.traffic_facts", "LoadSkewAtMost")
    NothingMisrouted = LateClass("kubeproof.intents.traffic_facts", "NothingMisrouted")

__all__ = [
    "AllComplete",
    "DaemonRolloutComplete",
    "LoadSkewAtMost",
    "NothingMisrouted",
    "RunsOnEveryNode",
    "StatefulRolloutComplete",
]
