"""The use case: properties on a network, and all answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.logic.parser import names_in
from kubeproof.manifests.yaml.fields import suggestion
from kubeproof.network.check import check
from kubeproof.network.files.reader import load_network
from kubeproof.network.kubernetes.check import KubeOptions, answer_all
from kubeproof.network.kubernetes.questions import CAN, CANNOT, MUST_PASS, parse_block, parse_pods, parse_question
from kubeproof.network.kubernetes.reader import load_kube_network
from kubeproof.network.model import Network
from kubeproof.network.properties.automata import PathProperty, ltl_property
from kubeproof.network.properties.machine import prepare
from kubeproof.network.properties.named import Wanted, check_names, own_properties, parse_property, usage_fields
from kubeproof.network.properties.processes import check_processes
from kubeproof.network.result import NetworkResult, PropertyResult, make_undecided
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass


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
    return NetworkResult(network.name, known + rest, is_interrupted=bool(rest))


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
