"""The command `kubeproof`: its subcommands, and how every ending becomes an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module

import click

from kubeproof import __version__
from kubeproof.cli.running.endings import ENVIRONMENT, first_of, say, silence, tell_ending
from kubeproof.cli.running.interruption import Interruption, listening

# Modules, manifests and states stay until the end and hold hardly any cycles: looking for those seldom is enough.
COLLECTIONS = (100_000, 20, 100)
_COMMANDS = {  # name, also of the module -> command or group; imported when it is called or listed
    "admit": "admit_command",
    "cases": "cases_group",
    "completion": "completion_command",
    "diff": "diff_command",
    "doctor": "doctor_command",
    "explain": "explain_command",
    "fix": "fix_command",
    "init": "init_command",
    "mcp": "mcp_command",
    "mine": "mine_command",
    "monitor": "monitor_group",
    "network": "network_group",
    "properties": "properties_group",
    "quantify": "quantify_group",
    "replay": "replay_command",
    "report": "report_command",
    "simulate": "simulate_command",
    "snapshot": "snapshot_command",
    "tune": "tune_command",
    "verify": "verify_command",
    "what-if": "what_if_group",
}
_MODULES = {"what-if": "what_if"}  # where that is not the name


class _Commands(click.Group):
    """The subcommands, each imported only when somebody asks for it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = _MODULES.get(cmd_name, cmd_name)
        command: click.Command = getattr(import_module(f"kubeproof.cli.commands.{module}"), _COMMANDS[cmd_name])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS:
            from difflib import get_close_matches

            for close in get_close_matches(args[0][:100], _COMMANDS, n=1):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {close!r}?")
        return super().resolve_command(ctx, args)


@click.group(
    "kubeproof", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="kubeproof")
def cli() -> None:
    """Proofs and counterexamples for Kubernetes clusters, before kubectl apply.

    \b
    Examples:
      kubeproof verify manifests/
      kubeproof init manifests/ > scenario.yaml
      kubeproof cases run c8
      kubeproof explain S005
      kubeproof network verify network.yaml
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; whatever happens, no traceback unless asked for."""
    if arguments is not None:
        return _run(list(arguments))
    gc.set_threshold(*COLLECTIONS)  # the process is ours
    try:
        return _run(sys.argv[1:], is_ours=True)
    finally:
        gc.freeze()  # the interpreter ends without looking for cycles a last time


def _run(words: list[str], *, is_ours: bool = False) -> int:
    """The exit code of a command that hears signals; in a process of ours none is heard between that and the end."""
    interruption = Interruption()
    with listening(interruption, to_the_end=is_ours):
        code = _guard(lambda: _last(_flush(_guard(lambda: _invoke(words, interruption))), interruption))
    if is_ours and interruption.stop.is_asked:
        _leave(code)
    return code


def _last(code: int, interruption: Interruption) -> int:
    """The code, which no signal changes any more."""
    interruption.end()
    return code


def _leave(code: int) -> None:
    """Ends the process now: CPython ends it by SIGINT, whatever the code, if an interrupt once met code made by `exec`,
    as named tuples are."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _invoke(words: list[str], interruption: Interruption) -> int:
    """The command's own exit code.

    Click's `main` is not used: it ends with 1, which here means a violation, when a reader closes stdout.
    """
    if instruction := os.environ.get("_KUBEPROOF_COMPLETE"):
        from kubeproof.cli.commands.completion import complete

        return complete(instruction)
    try:
        with cli.make_context(_program(), words, obj=interruption) as context:
            code: int = cli.invoke(context)
            return code
    except click.exceptions.Exit as ending:
        return ending.exit_code


def _program() -> str:
    """What the user typed to get here."""
    return "kubectl proof" if os.path.basename(sys.argv[0]).startswith("kubectl-proof") else "kubeproof"


def _guard(run: Callable[[], int]) -> int:
    """The exit code of the contract for every way a command can end."""
    try:
        return run()
    except (Exception, KeyboardInterrupt) as problem:
        return tell_ending(problem)


def _flush(code: int) -> int:
    """The code, after making sure that the interpreter finds nothing to complain about on stdout."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as problem:
        silence(sys.stdout)
        say(f"error: E401 cannot write to stdout: {problem.strerror}.")
        return first_of((code, ENVIRONMENT))
    return code


if __name__ == "__main__":
    sys.exit(main())
