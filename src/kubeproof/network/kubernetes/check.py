"""Answers questions about manifests: connections become a network, and the path checker does the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.network.check import Checker, check
from kubeproof.network.kubernetes.objects import Block, Ingress, KubeNetwork, Party, PodGroup, Service
from kubeproof.network.kubernetes.policies import Policies
from kubeproof.network.kubernetes.ports import ALL_PORTS, Ports, intersection, show
from kubeproof.network.kubernetes.questions import CAN, MUST_PASS, Question, is_backend, service_ports
from kubeproof.network.model import Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.automata import PathProperty, ltl_property
from kubeproof.network.properties.machine import Prepared, prepare
from kubeproof.network.properties.predicates import OneOf
from kubeproof.network.result import Counterexample, Liveness, NetworkResult, PropertyResult, make_undecided
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

MOST_REASONS = 10


@dataclass(frozen=True, slots=True)
class KubeOptions:
    """What manifests do not say."""

    relays: bool | None = None  # whether pods in between may pass traffic on; None: only for must pass
    pod_ranges: tuple[Block, ...] = ()
    controllers: tuple[PodGroup, ...] = ()  # pods of the ingress controller


def answer_all(
    network: KubeNetwork, questions: Sequence[Question], options: KubeOptions, stop: Stop | None = None
) -> NetworkResult:
    """The answers to all questions; those that are known, if it is to stop before all are."""
    if not questions:
        raise NothingToCheckError("E301 no question. Add --can-reach, --cannot-reach or --must-pass.")
    policies = Policies(network, options.pod_ranges)
    answers = (_Answer(network, policies, question, options).result() for question in questions)
    known = tuple(until(stop or Stop(), answers))
    rest = tuple(make_undecided(f"{question.kind}: {question.text}") for question in questions[len(known) :])
    return NetworkResult("the manifests", known + rest, network.notes, is_interrupted=bool(rest))


class _Answer:
    """One question, on the connections that are allowed for certain and on those that may be."""

    def __init__(self, network: KubeNetwork, policies: Policies, question: Question, options: KubeOptions) -> None:
        self._network = network
        self._policies = policies
        self._question = question
        self._options = options
        self._relays = question.kind == MUST_PASS if options.relays is None else options.relays

    def result(self) -> PropertyResult:
        if self._question.kind == CAN:
            return self._can()
        prepared = prepare(_property(self._question))
        graph = self._graph(certain=False)
        most = check(graph, prepared, final=True)
        if most.verdict != Verdict.VIOLATED:
            nothing = self._nothing_asked(graph, most.pairs)
            return self._say(most, Verdict.VACUOUS if nothing else most.verdict, (), nothing)
        least = check(self._graph(certain=True), prepared, final=True)
        if least.verdict == Verdict.VIOLATED:
            return self._say(least, Verdict.VIOLATED, least.counterexamples)
        return self._say(most, Verdict.UNKNOWN, most.counterexamples)

    def _nothing_asked(self, graph: Network, pairs: int) -> tuple[str, ...]:
        """Why a question that finds nothing wrong asks for nothing: a port that nobody has, or ends without a way."""
        question = self._question
        if question.port is not None and not any(map(self._has_port, question.targets)):
            return (f"nothing asked for has the port {question.port}",)
        if question.kind == MUST_PASS and self._relays and len(_missing(graph, prepare(_never_there()))) == pairs:
            return ("nothing gets from one end to the other, with or without passing anything",)
        return ()

    def _has_port(self, target: Party) -> bool:
        if self._question.service is None:
            return bool(self._question.ports_at(target))
        return isinstance(target, PodGroup) and bool(service_ports(self._question.service, self._question.port, target))

    def _say(
        self,
        result: PropertyResult,
        verdict: Verdict,
        shown_paths: tuple[Counterexample, ...],
        reasons: tuple[str, ...] = (),
    ) -> PropertyResult:
        paths = tuple(replace(path, snapshot_name="", others=path.others[:MOST_REASONS]) for path in shown_paths)
        return replace(
            result,
            name=f"{self._question.kind}: {self._question.text}",
            verdict=verdict,
            liveness=Liveness.NONE,
            is_safe=verdict != Verdict.VIOLATED,
            counterexamples=paths,
            meaning=self._meaning(verdict, result.pairs),
            reasons=reasons,
        )

    def _meaning(self, verdict: Verdict, pairs: int) -> str:
        scope = f"{pairs:,} pair(s) of workloads, {'relays included' if self._relays else 'direct connections'}"
        words = {
            Verdict.HOLDS: "the policies decide it",
            Verdict.VIOLATED: "the policies do not grant it"
            if self._question.kind == CAN
            else "the policies allow otherwise",
            Verdict.UNKNOWN: "the manifests do not decide it: it depends on addresses, namespaces or host networks",
            Verdict.VACUOUS: "there is nothing to check",
        }
        return f"{words[verdict]} ({scope})"

    def _can(self) -> PropertyResult:
        """Reachability is what the opposite property's counterexamples show."""
        prepared = prepare(_property(self._question))
        graph = self._graph(certain=True)
        if not self._question.targets:
            nothing = check(graph, prepared, final=True)
            service = self._question.service
            return self._say(nothing, Verdict.VIOLATED, (), (f"{service.ref if service else 'it'} selects no pods",))
        least = check(graph, prepared, final=True)
        missing = _missing(graph, prepared)
        if not missing:
            paths = tuple(replace(path, part="witness") for path in least.counterexamples)
            return self._say(least, Verdict.HOLDS if least.pairs else Verdict.VACUOUS, paths)
        lost = _missing(self._graph(certain=False), prepared)
        verdict = Verdict.VIOLATED if lost else Verdict.UNKNOWN
        reasons = tuple(self._reason(*pair) for pair in (lost or missing)[:MOST_REASONS])
        more = len(lost or missing) - len(reasons)
        return self._say(least, verdict, (), (*reasons, *((f"and {more} more pair(s)",) if more else ())))

    def _reason(self, source: str, target: str) -> str:
        """Why there is no connection."""
        parties = {one.ref: one for one in (*self._network.pods, *self._question.targets)}
        start = next(one for one in self._question.sources if one.ref == source)
        goal = parties[target]
        froms: Sequence[Party] = self._options.controllers if isinstance(start, Ingress) else (start,)
        wanted = self._find_wanted(start, goal)
        if not wanted:
            what = "it leads to no port of these pods" if isinstance(start, Ingress) else "it has no such port"
            return f"{source} to {target}: {what}"
        why = "; ".join(self._policies.find_allowed(one, goal).why for one in froms)
        return f"{source} to {target} needs {show(wanted)}; allowed is {why}"

    def _find_wanted(self, start: Party | Ingress, goal: Party) -> Ports:
        """The ports of the last connection that count."""
        services = self._services(start)
        if isinstance(goal, PodGroup) and (services or isinstance(start, Ingress)):
            found: list[tuple[str, int, int]] = []
            for service, port in services:
                if is_backend(service, goal):
                    found += self._through(service, port, goal)
            return tuple(sorted(set(found)))
        return self._question.ports_at(goal)

    def _through(self, service: Service, asked: str | int | None, goal: PodGroup) -> Ports:
        """Where a service leads at the goal; what an Ingress asks for counts only as far as the question does."""
        if asked is None:
            return service_ports(service, self._question.port, goal)
        asks_service = self._question.service is not None
        counted = service_ports(service, self._question.port, goal) if asks_service else self._question.ports_at(goal)
        return intersection(service_ports(service, asked, goal), counted)

    def _services(self, start: Party | Ingress) -> list[tuple[Service, str | int | None]]:
        """The services that connections go through, with the port asked of each; none for direct ones."""
        if isinstance(start, Ingress):
            by_ref = {service.ref: service for service in self._network.services}
            return [(by_ref[ref], port) for ref, port in start.backends if ref in by_ref]
        return [(self._question.service, None)] if self._question.service is not None else []

    # The network of connections

    def _graph(self, *, certain: bool) -> Network:
        tables: dict[str, list[Rule]] = {}
        for target in self._question.targets:
            for source in self._question.sources:
                if isinstance(source, Ingress):
                    self._from_ingress(tables, source, target, certain=certain)
            starts = [source for source in self._question.sources if not isinstance(source, Ingress)]
            relays = [one for one in self._network.pods if one not in starts] if self._relays else []
            for party in dict.fromkeys((*starts, *relays)):
                self._last(tables, party, party, target, self._services(party), certain=certain)
                for other in self._network.pods if self._relays else ():
                    if other.ref not in (party.ref, target.ref):
                        self._connect(tables, party, other, target.ref, ALL_PORTS, certain=certain)
        return self._make({node: tuple(dict.fromkeys(rules)) for node, rules in tables.items()})

    def _from_ingress(self, tables: dict[str, list[Rule]], ingress: Ingress, target: Party, *, certain: bool) -> None:
        if not self._options.controllers:
            raise UsageError(
                f"{ingress.ref} has no controller in the input", "Name its pods with --ingress-controller."
            )
        for pods in self._options.controllers:
            note = "the controller's pods"
            rule = Rule(Match(destination=target.ref), (pods.ref,), source=ingress.source, note=note)
            tables.setdefault(ingress.ref, []).append(rule)
            if isinstance(target, PodGroup) and self._services(ingress):
                self._last(tables, pods, ingress, target, self._services(ingress), certain=certain)

    def _last(
        self,
        tables: dict[str, list[Rule]],
        party: Party,
        start: Party | Ingress,
        target: Party,
        services: list[tuple[Service, str | int | None]],
        *,
        certain: bool,
    ) -> None:
        """The last connection, directly or through a service."""
        if party.ref == target.ref:
            return
        if not services:
            self._connect(tables, party, target, target.ref, self._question.ports_at(target), certain=certain)
            return
        for service, asked in services:
            if not isinstance(target, PodGroup) or not is_backend(service, target):
                continue
            wanted = self._through(service, asked, target)
            allowed = self._policies.find_allowed(party, target)
            if intersection(wanted, allowed.least if certain else allowed.most):
                to_service = Rule(Match(destination=target.ref), (service.ref,), source=service.source)
                match = Match(destination=target.ref, in_port=party.ref)
                onward = Rule(match, (target.ref,), source=allowed.source, note=allowed.why)
                tables.setdefault(party.ref, []).append(to_service)
                tables.setdefault(service.ref, []).append(onward)

    def _connect(
        self, tables: dict[str, list[Rule]], party: Party, other: Party, goal: str, wanted: Ports, *, certain: bool
    ) -> None:
        allowed = self._policies.find_allowed(party, other)
        if intersection(wanted, allowed.least if certain else allowed.most):
            rule = Rule(Match(destination=goal), (other.ref,), source=allowed.source, note=allowed.why)
            tables.setdefault(party.ref, []).append(rule)

    def _make(self, tables: dict[str, tuple[Rule, ...]]) -> Network:
        arrows = frozenset(frozenset((node, to)) for node, table in tables.items() for rule in table for to in rule.to)
        question = self._question
        named = [one.ref for one in (*question.sources, *question.targets, *self._network.pods, *question.via)]
        names = dict.fromkeys((*named, *(end for arrow in sorted(map(sorted, arrows)) for end in arrow)))
        traffic = Traffic(tuple(one.ref for one in question.sources), tuple(one.ref for one in question.targets))
        return Network(
            nodes=tuple(Node(name) for name in names),
            links=arrows,
            traffic=(traffic,) if question.targets else (),
            snapshots=(Snapshot("", tables),),
            name="the manifests",
        )


def _property(question: Question) -> PathProperty:
    if question.kind != MUST_PASS:
        return _never_there()
    one = ltl_property("!there W way", {"there": "DELIVERED", "way": "true"})
    gateways = OneOf("CURRENT_NODE", tuple(pods.ref for pods in question.via))
    return replace(one, propositions=(one.propositions[0], gateways))


def _never_there() -> PathProperty:
    return ltl_property("G !there", {"there": "DELIVERED"})


def _missing(network: Network, prepared: Prepared) -> list[tuple[str, str]]:
    """The pairs between which nothing is possible."""
    checker = Checker(network, prepared)
    reached = checker.snapshot(0).unsafe
    return list(_list_unreached(network, checker, reached))


def _list_unreached(
    network: Network, checker: Checker, reached: dict[tuple[int, str], int]
) -> Iterator[tuple[str, str]]:
    for place, traffic in enumerate(network.traffic):
        for source in traffic.sources:
            for target in traffic.destinations:
                if source != target and not reached.get((place, source), 0) & checker.sets[place].bit[target]:
                    yield source, target
