"""`kubeproof network rollout` and `kubeproof network plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.networks.asked import code_of, load_with_properties, property_options
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.running.interruption import current
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.network.model import Network, Snapshot

_UNIT = click.option(
    "--unit", type=click.Choice(["rule", "table", "snapshot"]), default="rule", show_default=True,
    help="What is changed at once: one rule, the table of one node, or everything between two snapshots.",
)  # fmt: skip
_STATES = click.option(
    "--max-states", type=click.IntRange(1), default=1_000_000, show_default=True,
    help="States of one packet class that are looked at.",
)  # fmt: skip


@click.command("rollout", short_help="Check packets that are on their way while rules change.")
@click.argument("files", metavar="FILE [NEW]", nargs=-1, required=True)
@property_options
@_UNIT
@click.option("--per-packet", is_flag=True, help="Each packet must go as one configuration would send it.")
@click.option("--per-flow", is_flag=True, help="So must all packets of a flow that lasts as long as the rollout.")
@_STATES
@output_option("text", "json")
def rollout_command(
    *, files: tuple[str, ...], unit: str, per_packet: bool, per_flow: bool, max_states: int,
    outputs: tuple[Output, ...], **options: Any,
) -> int:  # fmt: skip
    """Check every packet against every interleaving with the changes from each snapshot to the next.

    FILE has several snapshots, or its last one is the old configuration and the last one of NEW the new. Between two
    snapshots changes come in any order; the next snapshot's changes begin when all have come. Packets may be sent
    at any time and be on their way for any time. Each packet is judged by itself: one that is lost is lost.

    \b
    Examples:
      kubeproof network rollout network.yaml
      kubeproof network rollout old.yaml new.yaml --per-packet
      kubeproof network rollout network.yaml -p noDrop --unit table

    \b
    Exit codes: 0 all hold in every interleaving, 1 violated, 2 wrong usage,
    3 a limit was met, 4 input refused, 5 nothing asked.
    """
    from kubeproof.network.rollouts.changes import course_of
    from kubeproof.network.rollouts.verify import RolloutOptions, verify_rollout
    from kubeproof.report.networks.rollouts import rollout_json, rollout_text

    networks, wanted = load_with_properties(_one_or_two(files), options)
    network, snapshots = networks[-1], _snapshots(networks, files)
    with current().gently() as stop:
        asked = RolloutOptions(per_packet, per_flow, max_states)
        result = verify_rollout(network, course_of(snapshots, unit), wanted, asked, stop)
    render = {"json": rollout_json, "text": rollout_text}
    code = code_of(result.verdict, is_interrupted=result.is_interrupted)
    return emit(outputs, lambda output: render[output.format](result), code, verdict=result.verdict)


@click.command("plan", short_help="Find an order of rule changes that is safe, or prove that there is none.")
@click.argument("files", metavar="OLD [NEW]", nargs=-1, required=True)
@property_options
@click.option(
    "--unit", type=click.Choice(["rule", "table"]), default="rule", show_default=True,
    help="What is changed at once: one rule, or the table of one node.",
)  # fmt: skip
@click.option(
    "--max-configurations", type=click.IntRange(1), default=100_000, show_default=True,
    help="Configurations that are looked at.",
)  # fmt: skip
@_STATES
@output_option("text", "json")
def plan_command(
    *, files: tuple[str, ...], unit: str, max_configurations: int, max_states: int,
    outputs: tuple[Output, ...], **options: Any,
) -> int:  # fmt: skip
    """Find rounds of changes that lead from OLD to NEW such that no packet ever violates a property.

    OLD and NEW are network files, whose last snapshots are the configurations; one file alone goes from its first to
    its last. Changes of a round may come in any order. After some rounds packets have to leave first; the plan says so.

    \b
    Examples:
      kubeproof network plan old.yaml new.yaml
      kubeproof network plan network.yaml -p noDrop
      kubeproof network plan old.yaml new.yaml --unit table -o json

    \b
    Exit codes: 0 there is a plan, 1 it is proved that there is none, 2 wrong usage,
    3 a limit was met, 4 input refused, 5 no property to keep.
    """
    from kubeproof.network.rollouts.plan import PlanOptions, make_plan
    from kubeproof.report.networks.rollouts import plan_json, plan_text

    networks, wanted = load_with_properties(_one_or_two(files), options)
    snapshots = _snapshots(networks, files)
    with current().gently() as stop:
        asked = PlanOptions(unit, max_configurations, max_states)
        result = make_plan(networks[-1], snapshots[0], snapshots[-1], wanted, asked, stop)
    render = {"json": plan_json, "text": plan_text}
    code = code_of(result.verdict, is_interrupted=result.is_interrupted)
    return emit(outputs, lambda output: render[output.format](result), code, verdict=result.verdict)


def _one_or_two(files: tuple[str, ...]) -> tuple[str, ...]:
    if len(files) > 2:
        raise UsageError(f"{len(files)} network files", "Name one with several snapshots, or an old and a new one.")
    return files


def _snapshots(networks: list[Network], files: tuple[str, ...]) -> tuple[Snapshot, ...]:
    """The configurations, in order."""
    from kubeproof.network.rollouts.changes import check_alike

    if len(networks) == 1:
        found = networks[0].snapshots
        if len(found) < 2:
            raise UsageError(f"{files[0]} has one snapshot", "Add another one, or name a second file.")
        return found
    if what := check_alike(*networks):
        raise UsageError(f"{files[0]} and {files[1]} differ in {what}", "Only rules and links may differ.")
    return networks[0].snapshots[-1], networks[1].snapshots[-1]
