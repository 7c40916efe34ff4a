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
from kubeproof.cli.outputs import silence
from kubeproof.errors import KubeproofError
from kubeproof.report.escape import escape

USAGE, INCONCLUSIVE, ENVIRONMENT, INTERNAL, INTERRUPTED = 2, 3, 6, 70, 130


# Modules, manifests and states stay until the end and hold hardly any cycles: looking for those seldom is enough.
COLLECTIONS = (100_000, 20, 100)
_COMMANDS = {  # name, also of the module -> command or group; imported when it is called or listed
    "cases": "cases_group",
    "completion": "completion_command",
    "diff": "diff_command",
    "doctor": "doctor_command",
    "explain": "explain_command",
    "init": "init_command",
    "mine": "mine_command",
    "monitor": "monitor_group",
    "network": "network_group",
    "properties": "properties_group",
    "quantify": "quantify_group",
    "replay": "replay_command",
    "report": "report_command",
    "simulate": "simulate_command",
    "snapshot": "snapshot_command",
    "verify": "verify_command",
}


class _Commands(click.Group):
    """The subcommands, each imported only when somebody asks for it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kubeproof.cli.{cmd_name}"), _COMMANDS[cmd_name])
        return command


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
        return _ended(list(arguments))
    gc.set_threshold(*COLLECTIONS)  # the process is ours
    try:
        return _ended(sys.argv[1:])
    finally:
        gc.freeze()  # the interpreter ends without looking for cycles a last time


def _ended(words: list[str]) -> int:
    return _flushed(_guarded(lambda: _invoke(words)))


def _invoke(words: list[str]) -> int:
    """The command's own exit code.

    Click's `main` is not used: it ends with 1, which here means a violation, when a reader closes stdout.
    """
    if instruction := os.environ.get("_KUBEPROOF_COMPLETE"):
        from kubeproof.cli.completion import completed

        return completed(instruction)
    try:
        with cli.make_context(_program(), words) as context:
            code: int = cli.invoke(context)
            return code
    except click.exceptions.Exit as ending:
        return ending.exit_code


def _program() -> str:
    """What the user typed to get here."""
    return "kubectl proof" if os.path.basename(sys.argv[0]).startswith("kubectl-proof") else "kubeproof"


def _guarded(run: Callable[[], int]) -> int:
    """The exit code of the contract for every way a command can end."""
    try:
        return run()
    except click.ClickException as problem:
        return _wrong_usage(problem)
    except KubeproofError as problem:
        for line in str(problem).split("\n"):  # loading lists several problems, one a line
            _say(f"error: {line}")
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return 0
    except MemoryError:
        _say("error: out of memory. Set --memory or --max-states to stop in time.")
        return INCONCLUSIVE
    except OSError as problem:
        _traceback(problem)
        _say(f"error: E401 {problem}")
        return ENVIRONMENT
    except Exception as problem:
        return _internal(problem)


def _wrong_usage(problem: click.ClickException) -> int:
    with suppress(OSError):
        problem.show()
    return USAGE


def _internal(problem: Exception) -> int:
    """Says in one line that the fault is ours."""
    _traceback(problem)
    _say(
        f"internal error: {type(problem).__name__}: {problem}. This is a fault of Kubeproof: please report "
        f"the command, its input and the traceback that KUBEPROOF_DEBUG=1 shows."
    )
    return INTERNAL


def _traceback(problem: Exception) -> None:
    """Shows where the problem came from, only with KUBEPROOF_DEBUG=1."""
    if os.environ.get("KUBEPROOF_DEBUG", "") not in ("", "0"):
        import traceback

        with suppress(OSError):
            traceback.print_exception(problem)


def _say(line: str) -> None:
    """One line on stderr; what comes from manifests is escaped."""
    with suppress(OSError):
        click.echo(escape(line), err=True)


def _flushed(code: int) -> int:
    """The code, after making sure that the interpreter finds nothing to complain about on stdout."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError:
        silence(sys.stdout)
        return code or ENVIRONMENT
    return code


if __name__ == "__main__":
    sys.exit(main())
