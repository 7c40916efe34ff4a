"""`kubeproof completion`."""

from __future__ import annotations

import click

from kubeproof.cli.options.outputs import write_stdout
from kubeproof.errors import EnvironmentProblem

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_KUBEPROOF_COMPLETE"  # by which the script of a shell asks for words


@click.command("completion", short_help="Print a script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(*, shell: str) -> int:
    """Print a script that completes commands, options and IDs.

    \b
    Examples:
      kubeproof completion bash > ~/.local/share/bash-completion/completions/kubeproof
      kubeproof completion zsh > "${fpath[1]}/_kubeproof"
      kubeproof completion fish > ~/.config/fish/completions/kubeproof.fish
    """
    from click.shell_completion import get_completion_class

    from kubeproof.cli.main import cli

    made = get_completion_class(shell)
    if made is None:
        raise EnvironmentProblem(f"E401 this version of click knows no {shell}. Install a newer one.")
    script = made(cli, {}, "kubeproof", VARIABLE)
    write_stdout(script.source_template % script.source_vars())
    return 0


def complete(instruction: str) -> int:
    """Answers the script of a shell; `instruction` is what it put into the variable."""
    from click.shell_completion import shell_complete

    from kubeproof.cli.main import cli

    return shell_complete(cli, {}, "kubeproof", VARIABLE, instruction)
