"""`kubeproof network`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.networks.asked import code_of, property_options, split_name
from kubeproof.cli.networks.failures import failure_options, verify_failures
from kubeproof.cli.networks.matrix import matrix_command
from kubeproof.cli.networks.packets import packets_command
from kubeproof.cli.networks.rollouts import plan_command, rollout_command
from kubeproof.cli.networks.updates import updates_command
from kubeproof.cli.options.inputs import read_stdin
from kubeproof.cli.options.outputs import Output, emit, output_option, without_clash
from kubeproof.cli.running.interruption import current
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.network.model import Network
    from kubeproof.network.result import NetworkResult
    from kubeproof.stop import Stop


@click.group("network")
def network_group() -> None:
    """Path properties of networks: which way packets go, and which way they must not.

    \b
    Examples:
      kubeproof network generate home > home.yaml
      kubeproof network verify home.yaml
      kubeproof network verify home.yaml --ltl 'G !"DROPPED"'
      kubeproof network plan old.yaml new.yaml
    """


for _command in (rollout_command, plan_command, updates_command, packets_command, matrix_command):
    network_group.add_command(_command)


@network_group.command("verify", short_help="Check path properties of a network, or of manifests.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@property_options
@click.option("--final", is_flag=True, help="The last snapshot stays: what it never delivers is violated, not open.")
@failure_options
@click.option(
    "--from-manifests", is_flag=True,
    help="FILE... are Kubernetes manifests: workloads, NetworkPolicies, Services, Ingresses.",
)  # fmt: skip
@click.option("--can-reach", metavar="'A -> B[:PORT]'", multiple=True, help="A must be able to connect to B.")
@click.option("--cannot-reach", metavar="'A -> B[:PORT]'", multiple=True, help="A must not be able to connect to B.")
@click.option(
    "--must-pass", metavar="'A -> B via W'", multiple=True, help="Whatever gets from A to B must pass W on its way."
)
@click.option(
    "--relays", type=click.Choice(["none", "all"]),
    help="Whether pods in between may pass traffic on; default all for --must-pass, none otherwise.",
)  # fmt: skip
@click.option("--pod-cidr", metavar="CIDR", multiple=True, help="Addresses of pods, for rules with ipBlock.")
@click.option("--ingress-controller", metavar="A", help="The pods that serve the Ingresses and routes.")
@output_option("text", "json", "html")
def verify_network_command(
    *, files: tuple[str, ...], from_manifests: bool, outputs: tuple[Output, ...], **options: Any
) -> int:
    """Check path properties on every snapshot of a network, or who may talk to whom according to manifests.

    FILE is YAML, JSON or XML (docs/reference/network.md), or - for stdin. The safety part of a property must hold in
    every snapshot; its liveness part from some snapshot on, up to the last.

    With --from-manifests, A, B and W are Kind/namespace/name, namespace/label=value, namespace/*, an address or
    address range, or world; B can be a Service, A an Ingress or a route of the Gateway API.

    \b
    Examples:
      kubeproof network verify home.yaml
      kubeproof network verify home.yaml -p 'waypoint:through=ap;destination=gateway'
      kubeproof network verify net.xml --ltl 'G(at_fw -> F "DELIVERED")' --where 'at_fw=CURRENT_NODE == fw'
      kubeproof network verify net.json --automaton properties.py:no_detour -o json
      kubeproof network verify net.json --failures 2 --fail both --reroute
      kubeproof network verify --from-manifests k8s/ --cannot-reach 'world -> Deployment/shop/db'
      kubeproof network verify --from-manifests k8s/ --can-reach 'shop/app=web -> Service/shop/api:80'
      kubeproof network verify --from-manifests k8s/ --must-pass 'shop/* -> Deployment/shop/db via shop/app=proxy'

    \b
    Exit codes: 0 all hold, 1 violated, 2 wrong usage, 3 not verified up to the
    last snapshot or not decided, 4 input refused, 5 nothing asked.
    """
    with current().gently() as stop:
        if options["failures"]:
            _refuse(options, ("final", *_OF_MANIFESTS), "is not for --failures")
            if from_manifests or len(files) != 1:
                raise UsageError("--failures is for one network file", "Name one, without --from-manifests.")
            return verify_failures(files, options, stop, outputs)
        _refuse(options, ("fail", "reroute"), "needs --failures")
        ask = _ask_of_manifests if from_manifests else _ask_of_file
        result = ask(files, options, stop)
    return _report(result, outputs)


_OF_FILES = ("properties", "formulas", "where", "automata", "final")
_OF_MANIFESTS = ("can_reach", "cannot_reach", "must_pass", "relays", "pod_cidr", "ingress_controller")
_FLAGS = {"properties": "--property", "formulas": "--ltl", "automata": "--automaton"}


def _refuse(options: dict[str, Any], names: tuple[str, ...], reason: str) -> None:
    for name in names:
        if options[name]:
            raise UsageError(f"{_FLAGS.get(name, '--' + name.replace('_', '-'))} {reason}", "See --help.")


def _ask_of_file(files: tuple[str, ...], options: dict[str, Any], stop: Stop) -> NetworkResult:
    from kubeproof.network.run import NetworkOptions, verify_file

    _refuse(options, _OF_MANIFESTS, "needs --from-manifests")
    if len(files) != 1:
        raise UsageError(f"{len(files)} network files", "Verify one at a time; manifests need --from-manifests.")
    where = tuple(split_name(text) for text in options["where"])
    wanted = NetworkOptions(options["properties"], options["formulas"], where, options["automata"], options["final"])
    return verify_file(files[0], wanted, stdin=read_stdin, stop=stop)


def _ask_of_manifests(files: tuple[str, ...], options: dict[str, Any], stop: Stop) -> NetworkResult:
    from kubeproof.network.run import ManifestOptions, verify_manifests

    _refuse(options, _OF_FILES, "is for network files, not for manifests")
    relays = None if options["relays"] is None else options["relays"] == "all"
    wanted = ManifestOptions(
        options["can_reach"], options["cannot_reach"], options["must_pass"], relays,
        options["pod_cidr"], options["ingress_controller"],
    )  # fmt: skip
    return verify_manifests(files, wanted, stdin=read_stdin, stop=stop)


def _report(result: NetworkResult, outputs: tuple[Output, ...]) -> int:
    from kubeproof.report.network import as_json, as_text

    render = {"json": as_json, "text": as_text, "html": _page}
    code = code_of(result.verdict, is_interrupted=result.is_interrupted)
    return emit(outputs, lambda output: render[output.format](result), code, verdict=result.verdict)


def _page(result: NetworkResult) -> str:
    from kubeproof.report.networks.page import verify_page

    return verify_page(result)


@network_group.command("properties")
@output_option("text", "json")
def network_properties_command(*, outputs: tuple[Output, ...]) -> int:
    """List the path properties of the library with their fields.

    \b
    Examples:
      kubeproof network properties
      kubeproof network properties -o json
    """
    import json

    from kubeproof.network.properties.named import LIBRARY

    entries = list(LIBRARY.values())
    width = max(len(entry.key) for entry in entries)
    listed = [{"key": one.key, "fields": list(one.fields), "text": one.text} for one in entries]
    lines = [f"{one.key:<{width}}  {one.text}{_fields(one.fields)}\n" for one in entries]
    document = json.dumps({"version": 1, "properties": listed}, indent=2) + "\n"
    return emit(outputs, lambda output: document if output.format == "json" else "".join(lines))


def _fields(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _formats(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Output, ...]:
    from kubeproof.cli.options.outputs import parse_output

    found = without_clash(tuple(parse_output(value, ("yaml", "json", "xml")) for value in values))
    return (Output("yaml"),) if not values else found


@network_group.command(
    "generate", short_help="Print a home network, a fat tree or routing tables, with faults on request."
)
@click.argument("kind", type=click.Choice(["home", "fattree", "fib"]))
@click.option(
    "--k", type=click.IntRange(2, 254), default=4, show_default=True, help="Ports of a fat tree's switch; even."
)
@click.option("--routers", type=click.IntRange(3, 1000), default=20, show_default=True, help="Of fib.")
@click.option(
    "--rules",
    type=click.IntRange(3, 1_000_000),
    default=2_000,
    show_default=True,
    help="Of all routers of fib together.",
)
@click.option("--snapshots", type=click.IntRange(1, 1000), help="How many; default 4 for home, 6 for fattree.")
@click.option(
    "--fault", "faults", metavar="KIND:NODE[>TO][@FIRST-LAST]", multiple=True,
    help="bypass, blackhole, loop or link-down at a node, in snapshots counted from 1; default all.",
)  # fmt: skip
@click.option(
    "-o", "--output", "outputs", multiple=True, callback=_formats, metavar="FORMAT[=FILE]",
    help="yaml (default), json or xml. Repeatable; without FILE to stdout.",
)  # fmt: skip
def generate_network_command(
    *, kind: str, k: int, routers: int, rules: int, snapshots: int | None, faults: tuple[str, ...],
    outputs: tuple[Output, ...],
) -> int:  # fmt: skip
    """Print a network with its usual property.

    home: seven nodes, whose devices reach the internet through the access point. fattree: k pods, whose background
    traffic crosses the tree through dedicated cores. fib: routers in a ring with chords, whose tables look like those
    on the internet, the longest match first.

    \b
    Examples:
      kubeproof network generate home > home.yaml
      kubeproof network generate fattree --k 8 -o json=tree.json
      kubeproof network generate home --fault 'bypass:router>gateway@2-3'
      kubeproof network generate fib --rules 20000 -o json=fib.json
      kubeproof network generate fattree --k 4 --fault 'bypass:agg-0-0>core-0-1@3-3' -o xml
    """
    from kubeproof.network.files.generate import DEDICATED, fat_tree, fib, home
    from kubeproof.network.files.writer import to_json, to_xml, to_yaml

    if kind == "home":
        network, usual = home(snapshots or 4), {"waypoint": {"through": ["ap"], "destination": "gateway"}}
    elif kind == "fib":
        network, usual = fib(routers, rules), {"reach": {}}
    else:
        network, usual = fat_tree(k, snapshots or 6), {"waypoint": {"through": [DEDICATED]}}
    for fault in faults:
        network = _break(network, fault)
    render = {"yaml": to_yaml, "json": to_json, "xml": to_xml}
    return emit(outputs, lambda output: render[output.format](network, (usual,)))


def _break(network: Network, fault: str) -> Network:
    import re

    from kubeproof.network.files.generate import with_fault

    count = len(network.snapshots)
    found = re.fullmatch(r"([a-z-]+):([^>@]+)(?:>([^@]+))?(?:@([0-9]{1,6})(?:-([0-9]{1,6}))?)?", fault)
    if found is None:
        raise UsageError(f"--fault {fault!r} is not KIND:NODE[>TO][@FIRST-LAST]", "Write 'bypass:router>gateway@2-3'.")
    kind, node, to, first, last = found.groups()
    begin = int(first or 1)
    end = int(last or first or count)
    if not 1 <= begin <= end <= count:
        raise UsageError(f"--fault {fault!r}: there are snapshots 1 to {count}", "Correct the numbers after @.")
    return with_fault(network, kind, node, first=begin - 1, last=end - 1, to=to or "")
