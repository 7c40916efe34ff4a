"""What the commands about networks have in common: networks from files, and properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kubeproof.cli.options.inputs import read_stdin
from kubeproof.cli.running.endings import INTERRUPTED, first_of
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.network.model import Network
    from kubeproof.network.properties.named import Wanted
    from kubeproof.verdicts import Verdict

F = TypeVar("F", bound=Callable[..., object])
PROPERTY = click.option(
    "-p", "--property", "properties", metavar="NAME[:KEY=VALUE;...]", multiple=True,
    help='A property of the library (see "kubeproof network properties"), beside those in the file.',
)  # fmt: skip
LTL = click.option(
    "--ltl", "formulas", metavar="FORMULA", multiple=True,
    help="A formula; its propositions are predicates in double quotes, or named with --where.",
)  # fmt: skip
WHERE = click.option("--where", metavar="NAME=PREDICATE", multiple=True, help="What a proposition of --ltl means.")
AUTOMATON = click.option(
    "--automaton", "automata", metavar="FILE.py[:NAME]", multiple=True,
    help="Automata of your own in a Python file, which is executed.",
)  # fmt: skip


def property_options(command: F) -> F:
    """The options that name properties."""
    for option in (AUTOMATON, WHERE, LTL, PROPERTY):
        command = option(command)
    return command


def split_name(text: str) -> tuple[str, str]:
    """The two halves of NAME=PREDICATE."""
    name, equals, predicate = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--where {text!r} is not NAME=PREDICATE", "Write --where 'at_fw=CURRENT_NODE == fw'.")
    return name.strip(), predicate.strip()


def load_with_properties(files: tuple[str, ...], options: dict[str, Any]) -> tuple[list[Network], tuple[Wanted, ...]]:
    """The networks of one or two files, and the properties of all of them and of the command line."""
    from kubeproof.network.files.reader import load_network
    from kubeproof.network.run import NetworkOptions, add_properties

    read = [load_network(file, stdin=read_stdin) for file in files]
    wanted = {one.name: one for file in read for one in file.properties}
    where = tuple(split_name(text) for text in options["where"])
    asked = NetworkOptions(options["properties"], options["formulas"], where, options["automata"])
    wanted |= {one.name: one for one in add_properties(asked, read[-1].network)}
    return [file.network for file in read], tuple(wanted.values())


def code_of(verdict: Verdict, *, is_interrupted: bool = False) -> int:
    """The exit code of a verdict."""
    from kubeproof.verdicts import Verdict

    code = {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3, Verdict.VACUOUS: 3}.get(verdict, 0)
    return first_of((code, INTERRUPTED)) if is_interrupted else code
