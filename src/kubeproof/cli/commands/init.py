"""`kubeproof init`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.inputs import (
    allows_outside,
    nodes_option,
    outside_option,
    read_stdin,
    refuse_two_sources_of_nodes,
    tell_refusals,
)
from kubeproof.cli.options.outputs import write_stdout
from kubeproof.cli.running.endings import OK, first_of

if TYPE_CHECKING:
    from kubeproof.manifests.assumed.node_pools import Pool


@click.command("init", short_help="Print a commented Scenario for manifests, ready to edit.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@outside_option
@nodes_option
def init_command(*, paths: tuple[str, ...], pools: tuple[Pool, ...]) -> int:
    """Print the default Scenario for these manifests, commented, with suggestions, ready to edit.

    \b
    Examples:
      kubeproof init manifests/ > scenario.yaml
      kubeproof verify manifests/ scenario.yaml
    """
    from kubeproof.manifests.load import load
    from kubeproof.manifests.scenarios.commented_scenario import as_yaml

    loaded = load(paths, stdin=read_stdin, pools=pools, allow_outside=allows_outside(), is_tolerant=True)
    refuse_two_sources_of_nodes(loaded, pools)
    write_stdout(as_yaml(loaded))
    return first_of((OK, *tell_refusals(loaded)))
