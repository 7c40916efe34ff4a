"""Programs in the PRISM language as values, and their text."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.values import dataclass

Assignments = tuple[tuple[str, str], ...]  # variable, expression of its next value


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with a name; `note` becomes a comment."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer variable of a module."""

    name: str
    low: str
    high: str
    start: str


@dataclass(frozen=True, slots=True)
class Command:
    """What may happen when the guard is true; commands of several modules with one action happen together."""

    guard: str
    outcomes: tuple[tuple[str, Assignments], ...]  # probability (empty if it is the only one), assignments
    action: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """Variables and the commands that change them."""

    name: str
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Rewards:
    """Rewards of states: the value where the guard is true."""

    name: str
    guard: str
    value: str


@dataclass(frozen=True, slots=True)
class PrismSource:
    """A whole Markov decision process."""

    title: str
    constants: tuple[Constant, ...]
    formulas: tuple[tuple[str, str], ...]
    modules: tuple[Module, ...]
    labels: tuple[tuple[str, str], ...]
    rewards: tuple[Rewards, ...]

    def text(self) -> str:
        """The program as PRISM and Storm read it."""
        return "".join(f"{line}\n" for line in _lines(self))


def _lines(source: PrismSource) -> Iterator[str]:
    yield from (f"// {line}" for line in source.title.splitlines())
    yield "mdp"
    yield ""
    for constant in source.constants:
        yield f"const int {constant.name} = {constant.value};" + (f" // {constant.note}" if constant.note else "")
    yield ""
    yield from (f"formula {name} = {expression};" for name, expression in source.formulas)
    for module in source.modules:
        yield from ("", *_module(module))
    yield ""
    yield from (f'label "{name}" = {expression};' for name, expression in source.labels)
    for rewards in source.rewards:
        yield from ("", f'rewards "{rewards.name}"', f"  {rewards.guard} : {rewards.value};", "endrewards")


def _module(module: Module) -> Iterator[str]:
    yield f"module {module.name}"
    for variable in module.variables:
        yield f"  {variable.name} : [{variable.low}..{variable.high}] init {variable.start};"
    for command in module.commands:
        yield from (f"  // {command.note}",) if command.note else ()
        outcomes = " + ".join(_outcome(*outcome) for outcome in command.outcomes)
        yield f"  [{command.action}] {command.guard} -> {outcomes};"
    yield "endmodule"


def _outcome(probability: str, assignments: Assignments) -> str:
    changes = " & ".join(f"({name}'={expression})" for name, expression in assignments) or "true"
    return f"{probability} : {changes}" if probability else changes
