"""What predicates can observe: the functions of the predicate language, with their arguments and meaning.

The reference page `docs/reference/ltl.md` repeats this table; a test keeps the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from kubeproof.intents.declarations import EVICTORS
from kubeproof.values import dataclass

NUMBER, TRUTH = "number", "truth value"


@dataclass(frozen=True, slots=True)
class Function:
    """One function: its parameters in order, which of them it needs, and what it gives."""

    name: str
    gives: str  # NUMBER or TRUTH
    text: str
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # parameters that are true or false; others are text
    of_steps: bool = False  # about the step that led to the state

    @property
    def usage(self) -> str:
        """How it is called: `skew(target, topologyKey, ...)`, optional parameters in brackets."""
        full = {name: f"{name}=true|false" if name in self.flags else name for name in self.parameters}
        shown = [text if name in self.required else f"[{text}]" for name, text in full.items()]
        return f"{self.name}({', '.join(shown)})"

    def words_of(self, parameter: str) -> tuple[str, ...]:
        """The words that a parameter may be; (): any text."""
        return EVICTORS if parameter == "by" else ()


_PODS = ("target", "selector", "namespace")


def _pods(name: str, text: str) -> Function:
    return Function(name, NUMBER, text, _PODS)


def _step(name: str, text: str, *parameters: str) -> Function:
    return Function(name, TRUTH, text, parameters, of_steps=True)


_TABLE = (
    _pods("ready", "Pods that are ready."),
    _pods("replicas", "Pods that are not terminating or failed, with or without a node."),
    _pods("pending", "Pods without a node."),
    _pods("starting", "Pods on a node whose containers do not run yet."),
    _pods("running", "Pods whose containers run, ready or not, terminating ones aside."),
    _pods("terminating", "Pods that are being deleted and still there."),
    _pods("failed", "Failed pods whose objects are left; only in sums that are compared with a number."),
    _pods("missing", "Pods wanted that do not exist, where a quota or limits may refuse them; elsewhere 0."),
    _pods("desired", "spec.replicas of the workload, 0 while it does not exist; what an autoscaler writes."),
    Function("exists", TRUTH, "The workload's object exists.", ("target",), ("target",)),
    Function(
        "rolledOut",
        TRUTH,
        "Every pod of the Deployment is of the revision asked for, and as many as desired are ready; of a DaemonSet, "
        "every node where it should run has one pod, ready and of that revision; of a StatefulSet, every ordinal "
        "wanted, below the partition of any revision.",
        ("target",),
        ("target",),
    ),
    Function("shouldRun", NUMBER, "Nodes where the DaemonSet should run a pod now.", ("target",), ("target",)),
    Function("served", NUMBER, "Those of them that have a ready pod of it.", ("target",), ("target",)),
    Function(
        "revised", TRUTH, "Another revision than the first was asked for, now or before.", ("target",), ("target",)
    ),
    Function(
        "revision",
        NUMBER,
        "Which of its pod templates the workload asks for: 1 is that of the input, later ones in the order in which "
        "events bring them; a rollback goes back to a lower one. 0 while it does not exist.",
        ("target",),
        ("target",),
    ),
    Function("happened", TRUTH, "The event of this name has happened at least once.", ("event",), ("event",)),
    Function(
        "level",
        NUMBER,
        "The level at which the `cpuChange`, `memoryChange`, `cpuLoad` or `requests` of this name is: 0 for the first "
        "of its `levels`.",
        ("event",),
        ("event",),
    ),
    Function(
        "jobs",
        NUMBER,
        "Jobs that are there: 1 for a Job that exists, those that a CronJob has started, and those it has replaced "
        "until their place is taken; suspended ones are left out.",
        ("target",),
        ("target",),
    ),
    Function(
        "unfinished",
        NUMBER,
        "Those of them that are not complete, failed and replaced ones included.",
        ("target",),
        ("target",),
    ),
    Function(
        "skew",
        NUMBER,
        "Bound pods that are not terminating: most in a domain less fewest. Domains are the values of the key on "
        "nodes that the target's node affinity admits.",
        ("target", "topologyKey", "selector", "namespace"),
        ("topologyKey",),
    ),
    Function(
        "loadSkew",
        NUMBER,
        "How many times the traffic of its least busy ready pod the busiest gets from one Service, rounded up; 1 where "
        "traffic is split by pod, 0 without ready pods.",
        ("target",),
        ("target",),
    ),
    Function(
        "misrouted",
        NUMBER,
        "Pods that get traffic from a Service although they have been told to stop: proxies have not learnt yet that "
        "they terminate, or no ready pod is left.",
        ("target",),
        ("target",),
    ),
    Function(
        "domains",
        NUMBER,
        "Values of the key on nodes that hold a pod that is not terminating.",
        ("target", "topologyKey"),
        ("target", "topologyKey"),
    ),
    Function(
        "shared",
        NUMBER,
        "Domains of the key that hold pods of the target and pods that the selector matches.",
        ("target", "topologyKey", "selector", "namespace"),
        ("target", "topologyKey", "selector"),
    ),
    Function(
        "on",
        NUMBER,
        "Pods of the target that are not terminating on the node named, or on the nodes that the selector matches.",
        ("target", "node", "selector"),
        ("target",),
    ),
    Function(
        "nodes",
        NUMBER,
        "Nodes: the one named or those that the selector matches, or all; ready: the API shows Ready; up: the kubelet "
        "runs; cordoned: unschedulable; draining: an operator evicts its pods.",
        ("name", "selector", "ready", "up", "cordoned", "draining"),
        flags=("ready", "up", "cordoned", "draining"),
    ),
    Function("stable", TRUTH, "No control loop will change anything until the next event."),
    _step(
        "evicted",
        "A pod was evicted in this step, by anybody or by `by`: `descheduler`, `drain`, `taint`, `preemption`, `vpa`; "
        "by `kernelPanic`: a node failed of overload, whatever the target.",
        "target",
        "by",
    ),
    _step("created", "A pod was created in this step.", "target"),
    _step("bound", "A pod got its node from the scheduler in this step.", "target"),
    _step("rejected", "A kubelet rejected a pod in this step.", "target"),
    _step("rescaled", "A replica count in a spec was written in this step.", "target"),
    _step("moved", "A pod was bound to or deleted from a node in this step.", "target"),
    _step("changed", "Replicas, pods or their places changed in this step.", "target"),
    _step("panicked", "A node failed of overload in this step."),
)
FUNCTIONS = {one.name: one for one in _TABLE}


def closest(word: str, known: Iterable[str]) -> str:
    """`Did you mean …?` for a close match, otherwise the known words."""
    words = list(known)
    close = get_close_matches(word[:100], words, n=1)
    return f"Did you mean {close[0]}?" if close else f"Known: {', '.join(words)}"
