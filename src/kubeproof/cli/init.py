"""`kubeproof init`."""

from __future__ import annotations

import click

from kubeproof.cli.inputs import read_stdin
from kubeproof.cli.outputs import write_stdout


@click.command("init", short_help="Print a commented Scenario for manifests, ready to edit.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
def init_command(*, paths: tuple[str, ...]) -> int:
    """Print the default Scenario for these manifests, commented, with suggestions, ready to edit.

    \b
    Examples:
      kubeproof init manifests/ > scenario.yaml
      kubeproof verify manifests/ scenario.yaml
    """
    from kubeproof.manifests.commented_scenario import as_yaml
    from kubeproof.manifests.load import load

    write_stdout(as_yaml(load(paths, stdin=read_stdin)))
    return 0
