"""Every intent of the library as a formula with predicates: the general form of which the library is the fast case.

What `when` means becomes visible here. A conjunct `G(p -> true)` says nothing about runs; it makes the formula vacuous
where `p` never happens, as the intent is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kubeproof.cluster.api.selector_text import selector_text
from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.labels import LabelSelector
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import (
    ALWAYS,
    ALWAYS_ONCE_TRUE,
    ANY_EVICTOR,
    BY_KERNEL_PANIC,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    POD_PHASES,
    STABLE,
    Amount,
    Intent,
)

PHASES = {
    "Pending": ("pending", "starting"),
    "Running": ("running",),
    "Terminating": ("terminating",),
    "Failed": ("failed",),
    "Succeeded": (),
}
WHENS = {
    ALWAYS: "G(settled -> G ok)",
    ALWAYS_ONCE_TRUE: "G(ok -> G ok)",
    STABLE: "G(!still | ok) & G(relevant -> true)",
    EVENTUALLY: "F ok & G(relevant -> true)",
    EVENTUALLY_ALWAYS: "F G ok & G(relevant -> true)",
}
FROM_THE_START = "G ok & G(relevant -> true)"  # upper bounds, `when: always`
OWN_FORMULAS = {
    "schedulable": "G(!still | ok) & G(relevant -> true)",
    "noPendingForever": "G F (ok | bound) & G(relevant -> true)",
    "rolloutCompletes": "G F ok & G(relevant -> true)",
    "drainCompletes": "G F ok & G(relevant -> true)",
    "completes": "G F ok & G(relevant -> true)",
    "settles": "G F still",
    "noOscillation": "F G !step",
    "noEviction": "G !step",
    "noEvictionLoop": "F G !step",
    "noCreateFailLoop": "F G !step",
}
STEP_WORDS = {"replicas": "rescaled", "placement": "moved", "any": "changed"}


@dataclass(frozen=True, slots=True)
class Template:
    """A formula and what its propositions mean."""

    formula: str
    where: tuple[tuple[str, str], ...]


def as_ltl(intent: Intent) -> Intent:
    """The same property as an `ltl` intent; one that is an `ltl` intent already stays as it is."""
    if intent.key == "ltl":
        return intent
    template = template_of(intent)
    return replace(intent, key="ltl", target=None, when=ALWAYS, formula=template.formula, where=template.where)


def template_of(intent: Intent) -> Template:
    """The formula that an intent of the library stands for."""
    formula = _formula(intent)
    meanings: dict[str, Callable[[], str]] = {
        "ok": lambda: _STATEMENTS[intent.key](intent),
        "relevant": lambda: _relevant(intent),
        "settled": lambda: _settled(intent),
        "still": lambda: "stable",
        "bound": lambda: f"bound({_target(intent)})",
        "step": lambda: _step(intent),
    }
    used = [name for name in meanings if _names(formula, name)]
    return Template(formula, tuple((name, meanings[name]()) for name in used))


def _formula(intent: Intent) -> str:
    if intent.key == "noOscillation" and intent.of == "any" and intent.target is None:
        return OWN_FORMULAS["settles"]
    if intent.key in OWN_FORMULAS:
        return OWN_FORMULAS[intent.key]
    if entry(intent.key).bounds(intent):
        return FROM_THE_START
    return WHENS[intent.when]


def _names(formula: str, name: str) -> bool:
    return name in formula.replace("(", " ").replace(")", " ").replace("!", " ").split()


def _settled(intent: Intent) -> str:
    target = _target(intent)
    if intent.key == "runsOnEveryNode":
        return f"shouldRun({target}) > 0 && served({target}) == shouldRun({target})"
    return f"exists({target}) && desired({target}) > 0 && ready({target}) >= desired({target})"


# -- what the propositions say ----------------------------------------------------------------------


def _quoted(text: str) -> str:
    return f"'{text}'"


def _target(intent: Intent) -> str:
    """The target as an argument; empty where the intent speaks of every workload."""
    return "" if intent.target is None else _quoted(intent.target)


def _call(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(argument for argument in arguments if argument)})"


def _named(name: str, value: str | None) -> str:
    return "" if value is None else f"{name}={_quoted(value)}"


def _selected(selector: LabelSelector | None) -> str:
    return "" if selector is None else _named("selector", selector_text(selector))


def _at_least(what: str, intent: Intent) -> str:
    amount = intent.count or Amount(1)
    if amount.percent:
        return f"{what}({_target(intent)}) * 100 >= {amount.number} * desired({_target(intent)})"
    return f"{what}({_target(intent)}) >= {amount.number}"


def _at_most_replicas(intent: Intent) -> str:
    """Percentages are rounded up: n <= ceil(p d / 100) exactly if 100 n < p d + 100."""
    amount = intent.count or Amount(1)
    if amount.percent:
        return f"replicas({_target(intent)}) * 100 < {amount.number} * desired({_target(intent)}) + 100"
    return f"replicas({_target(intent)}) <= {amount.number}"


def _skew(intent: Intent) -> str:
    call = _call(
        "skew",
        _target(intent),
        _named("topologyKey", intent.topology_key),
        _selected(intent.selector),
        _named("namespace", intent.namespace),
    )
    return f"{call} <= {intent.skew}"


def _objects(intent: Intent) -> str:
    words = [word for phase in intent.phases or POD_PHASES for word in PHASES[phase]]
    total = " + ".join(_call(word, _target(intent)) for word in words) or "0"
    return f"{total} <= {(intent.count or Amount(1)).number}"


def _node_count(intent: Intent) -> str:
    selector = _selected(intent.nodes)
    names = [""] if intent.node_names is None else [_named("name", name) for name in intent.node_names]
    total = " + ".join(_call("nodes", name, selector) for name in names) or "0"
    return f"{total} <= {(intent.count or Amount(1)).number}"


def _only_on(intent: Intent) -> str:
    names = [""] if intent.node_names is None else [_named("node", name) for name in intent.node_names]
    allowed = [_call("on", _target(intent), name, _selected(intent.nodes)) for name in names]
    return f"{_call('on', _target(intent))} == {' + '.join(allowed) or '0'}"


def _apart(intent: Intent) -> str:
    others = _selected(intent.selector or LabelSelector())
    key, namespace = _named("topologyKey", intent.topology_key), _named("namespace", intent.namespace)
    return f"{_call('shared', _target(intent), key, others, namespace)} == 0"


def _spread(intent: Intent) -> str:
    return f"{_call('domains', _target(intent), _quoted(intent.topology_key))} >= {intent.domains}"


_STATEMENTS: dict[str, Callable[[Intent], str]] = {
    "minReady": lambda intent: _at_least("ready", intent),
    "minReplicas": lambda intent: _at_least("replicas", intent),
    "maxReplicas": _at_most_replicas,
    "maxSkew": _skew,
    "maxLoadSkew": lambda intent: f"loadSkew({_target(intent)}) <= {intent.skew}",
    "noTrafficToTerminating": lambda intent: f"misrouted({_target(intent)}) == 0",
    "maxPodObjects": _objects,
    "maxNodes": _node_count,
    "onlyOn": _only_on,
    "notColocated": _apart,
    "spread": _spread,
    "schedulable": lambda intent: f"pending({_target(intent)}) == 0",
    "noPendingForever": lambda intent: f"pending({_target(intent)}) == 0 && missing({_target(intent)}) == 0",
    "rolloutCompletes": lambda intent: f"rolledOut({_target(intent)})",
    "runsOnEveryNode": lambda intent: f"served({_target(intent)}) == shouldRun({_target(intent)})",
    "drainCompletes": lambda intent: "nodes(draining=true, up=true) == 0",
    "completes": lambda intent: f"unfinished({_target(intent)}) == 0",
}


def _relevant(intent: Intent) -> str:
    """What must be true some time for the intent to say anything."""
    if intent.key == "maxNodes":
        return "true"
    if intent.key == "drainCompletes":
        return "nodes(draining=true, up=true) > 0"
    if intent.key == "rolloutCompletes":
        daemons = f" && shouldRun({_target(intent)}) > 0" if str(intent.target).startswith(DAEMON_SET) else ""
        return f"revised({_target(intent)}){daemons}"
    if intent.key == "runsOnEveryNode":
        return f"shouldRun({_target(intent)}) > 0"
    if intent.key == "completes":
        return f"jobs({_target(intent)}) > 0"
    if intent.key == "maxSkew" and intent.selector is not None:
        return f"{_call('desired', _selected(intent.selector), _named('namespace', intent.namespace))} > 0"
    return f"desired({_target(intent)}) > 0"


def _step(intent: Intent) -> str:
    target = _target(intent)
    if intent.key == "noCreateFailLoop":
        return _call("rejected", target)
    if intent.key == "noOscillation":
        return _call(STEP_WORDS[intent.of], target)
    if intent.by == BY_KERNEL_PANIC:
        return "panicked"
    return _call("evicted", target, "" if intent.by == ANY_EVICTOR else _named("by", intent.by))
