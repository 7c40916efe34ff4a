"""The use case: properties on a network, and all answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.logic.parser import names_in
from kubeproof.manifests.yaml.fields import suggestion
from kubeproof.network.check import Checker, check
from kubeproof.network.checking.counterexamples import counterexample
from kubeproof.network.checking.witness import LOOP
from kubeproof.network.files.reader import load_network
from kubeproof.network.kubernetes.check import KubeOptions, answer_all
from kubeproof.network.kubernetes.questions import CAN, CANNOT, MUST_PASS, parse_block, parse_pods, parse_question
from kubeproof.network.kubernetes.reader import load_kube_network
from kubeproof.network.model import Network
from kubeproof.network.properties.automata import PathProperty, ltl_property
from kubeproof.network.properties.library import reach
from kubeproof.network.properties.machine import prepare
from kubeproof.network.properties.named import Wanted, check_names, own_properties, parse_property, usage_fields
from kubeproof.network.properties.processes import check_processes
from kubeproof.network.result import Counterexample, NetworkResult, PropertyResult, make_undecided
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass

MOST_LOOPS = 3


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """What the command line adds to a file."""

    properties: tuple[str, ...] = ()  # name:key=value;key=value
    formulas: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()  # names in formulas -> predicates
    automata: tuple[str, ...] = ()  # path.py, path.py:NAME
    final: bool = False  # the last snapshot stays for ever


def verify_file(
    path: str,
    options: NetworkOptions = NetworkOptions(),
    *,
    stdin: Callable[[], bytes] | None = None,
    stop: Stop | None = None,
) -> NetworkResult:
    """The answers for a network file."""
    read = load_network(path, stdin=stdin)
    wanted = (*read.properties, *add_properties(options, read.network))
    return verify_network(read.network, wanted, final=options.final, stop=stop)


def add_properties(options: NetworkOptions, network: Network) -> tuple[Wanted, ...]:
    """The properties that the options name."""
    found: list[Wanted] = [parse_property(text, network) for text in options.properties]
    where = _meanings(options)
    found += [ltl_property(formula, where) for formula in options.formulas]
    found += [one for reference in options.automata for one in own_properties(reference)]
    for one in found:
        if isinstance(one, PathProperty):
            check_names(one, network, usage_fields())
    return tuple(found)


def _meanings(options: NetworkOptions) -> dict[str, str]:
    """What propositions mean; one with two meanings or one that no formula has is a mistake."""
    named = {name for formula in options.formulas for name, _ in names_in(formula)}
    meanings: dict[str, str] = {}
    for name, predicate in options.where:
        if name in meanings:
            raise UsageError(f"--where gives {name!r} twice", "Remove one of them.")
        if name not in named:
            raise UsageError(f"--where gives {name!r}, which no --ltl names", suggestion(name, sorted(named)))
        meanings[name] = predicate
    return meanings


def verify_network(
    network: Network, wanted: Sequence[Wanted], *, final: bool = False, stop: Stop | None = None
) -> NetworkResult:
    """The answers for a network and some properties; those that are known, if it is to stop before all are."""
    if not wanted:
        raise NothingToCheckError(
            "E301 no property. Add spec.properties to the file, or --property, --ltl, --automaton."
        )
    stop = stop or Stop()
    known = tuple(until(stop, (_check(network, one, final=final) for one in wanted)))
    rest = tuple(make_undecided(one.name) for one in wanted[len(known) :])
    told = {example.snapshot for one in known for example in one.counterexamples if example.how == LOOP}
    loops = () if rest else tuple(until(stop, find_loops(network, told)))
    return NetworkResult(
        network.name,
        known + rest,
        loops=loops,
        nodes=tuple(node.name for node in network.nodes),
        links=tuple((min(link), max(link)) for link in sorted(network.links, key=sorted)),
        ends=frozenset(name for traffic in network.traffic for name in (*traffic.sources, *traffic.destinations)),
        is_interrupted=bool(rest),
    )


def find_loops(network: Network, told: Collection[int] = ()) -> Iterator[Counterexample]:
    """Packets that go round in the first few snapshots where some do; `told` are snapshots where that is known."""
    prepared = prepare(reach())
    checker = Checker(network, prepared)
    known = [network.snapshots[number] for number in told]
    most = len(known) + MOST_LOOPS
    for number, snapshot in enumerate(network.snapshots):
        found = checker.snapshot(number)
        if found.endless and not any(snapshot.tables == one.tables and snapshot.down == one.down for one in known):
            yield counterexample(network, prepared, found, "liveness", checker.sets)
            known.append(snapshot)
        if len(known) == most:
            return


def _check(network: Network, one: Wanted, *, final: bool) -> PropertyResult:
    if isinstance(one, PathProperty):
        return check(network, prepare(one), final=final)
    return check_processes(network, one, final=final)


@dataclass(frozen=True, slots=True)
class ManifestOptions:
    """What is asked of manifests."""

    can_reach: tuple[str, ...] = ()  # A -> B[:PORT]
    cannot_reach: tuple[str, ...] = ()
    must_pass: tuple[str, ...] = ()  # A -> B via W
    relays: bool | None = None
    pod_ranges: tuple[str, ...] = ()
    ingress_controller: str | None = None


def verify_manifests(
    paths: Sequence[str],
    options: ManifestOptions,
    *,
    stdin: Callable[[], bytes] | None = None,
    stop: Stop | None = None,
) -> NetworkResult:
    """The answers to questions about manifests."""
    network = load_kube_network(paths, stdin=stdin)
    asked = ((CAN, options.can_reach), (CANNOT, options.cannot_reach), (MUST_PASS, options.must_pass))
    questions = [parse_question(kind, text, network) for kind, texts in asked for text in texts]
    controllers = parse_pods(options.ingress_controller, network) if options.ingress_controller else ()
    ranges = tuple(parse_block(text) for text in options.pod_ranges)
    return answer_all(network, questions, KubeOptions(options.relays, ranges, controllers), stop)
