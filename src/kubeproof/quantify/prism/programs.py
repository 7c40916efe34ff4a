"""PRISM programs and properties as Storm reads them; what is wrong with them, by file, line and column."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kubeproof.errors import ProgramError, QuantityError, UsageError
from kubeproof.quantify.prism.expressions import refuse_broken_numbers, refuse_unusable_numbers
from kubeproof.quantify.storm import StormRefusal, ask, storm
from kubeproof.values import dataclass

KINDS = ("mdp", "dtmc", "ctmc", "ma")
MAX_BYTES = 64 * 1024 * 1024  # of a program or a list of properties
_POSITION = re.compile(r"Parsing error at (\d+):(\d+):\s*(.*?),? here:\n\t([^\n]*)\n", re.DOTALL)
_REFUSED = {  # kinds that Storm reads, and why there is no answer
    "smg": (
        "is a stochastic game (smg): Storm builds it, but gives no value for any of its properties",
        "Fix what one side does, and write mdp: its worst and its best case are the least and the greatest value.",
    ),
    "pomdp": (
        "is partially observable (pomdp): Storm only approximates it, without saying how far off",
        "Write mdp: whoever sees more does at least as well, so its best value is a bound.",
    ),
}
_INITIAL = "Obtain the values of the '\"init\"'-states"


@dataclass(frozen=True, slots=True)
class Program:
    """A PRISM program whose constants all have values."""

    handle: Any
    file: str
    kind: str
    branching: int  # at most so many successors of a choice
    constants: tuple[tuple[str, str], ...]
    is_regular: bool  # no probability or reward can lose digits when it is evaluated
    unused: tuple[tuple[str, str], ...] = ()  # given, but not for the program: for its properties
    text: str = ""


@dataclass(frozen=True, slots=True)
class Property:
    """One property, with what the user calls it: itself, if nothing else."""

    name: str
    text: str
    formula: Any


def read_program(file: str, constants: Mapping[str, str] | None = None, varied: Collection[str] = ()) -> Program:
    """The program in a file."""
    return program(_read(file), file=file, constants=constants, varied=varied)


def program(
    text: str, *, file: str, constants: Mapping[str, str] | None = None, varied: Collection[str] = ()
) -> Program:
    """The program in a text; `file` is what errors call it. Constants that are `varied` stay open."""
    parsed = _parse(text, file)
    given = dict(constants or {})
    left = {constant.name for constant in parsed.get_undefined_constants()}
    for name in sorted(set(varied) - left):
        raise UsageError(f"--vary {name}: no open constant of {file}", f"Open constants: {_list_names(sorted(left))}.")
    wanted = sorted(left - set(varied))
    _refuse_missing(wanted, given, file)
    defined = {constant.name for constant in parsed.constants} - left
    for name in sorted(defined & given.keys()):
        raise UsageError(f"--const {name}: {file} gives it a value itself", f"Open constants: {_list_names(wanted)}.")
    filled = {name: given.pop(name) for name in wanted}
    handle = _instantiate(parsed, filled) if filled else parsed
    refuse_broken_numbers(handle, file)
    sizes = (_kind(parsed, file, text), _branching(handle))
    return Program(handle, file, *sizes, tuple(filled.items()), _is_regular(handle), tuple(sorted(given.items())), text)


def _is_regular(handle: Any) -> bool:
    """True if probabilities are constant, which Storm computes exactly, and rewards add, multiply and divide only.

    Differences may cancel, and a rounded number may be rounded up to another whole number.
    """
    commands = [command for module in handle.modules for command in module.commands]
    shares = [update.probability_expression for command in commands for update in command.updates]
    text = str(handle.substitute_formulas())
    blocks = re.findall(r"^rewards\b.*?^endrewards", text, re.MULTILINE | re.DOTALL)
    values = [_behind_guard(line) for block in blocks for line in block.splitlines()[1:-1]]
    losing = re.compile(r"-|\^|%|\b(?:mod|pow|log|floor|ceil|round)\b")
    return not any(share.contains_variables() for share in shares) and not any(map(losing.search, values))


def _behind_guard(line: str) -> str:
    """What follows the first colon outside of parentheses: choices, which have colons of their own, stand in them."""
    depth = 0
    for place, letter in enumerate(line):
        depth += (letter == "(") - (letter == ")")
        if letter == ":" and depth == 0:
            return line[place:]
    return line


def _kind(parsed: Any, file: str, text: str) -> str:
    """The kind of the model; games and partially observable ones are refused."""
    try:
        kind: str = parsed.model_type.name.lower()
    except ValueError:  # Storm has kinds that its package cannot name
        kind = ""
    if kind not in KINDS:
        problem, remedy = _REFUSED.get(_first_word(text), ("is a model of another kind", ""))
        what = f"What can be checked is {', '.join(KINDS)}"
        raise ProgramError(problem, file=file, remedy=f"{what}. {remedy}" if remedy else f"{what}.")
    return kind


def _first_word(text: str) -> str:
    """What the program says it is, comments aside."""
    found = re.search(r"\b(?:smg|pomdp|pta|popta|ipomdp|imdp|idtmc)\b", re.sub(r"//[^\n]*", "", text))
    return "" if found is None else found[0]


def _instantiate(parsed: Any, filled: Mapping[str, str]) -> Any:
    definitions = ",".join(f"{name}={value}" for name, value in filled.items())
    try:
        return ask(lambda: storm().instantiate_constants(parsed, definitions))[0]
    except StormRefusal as problem:
        reason = re.sub(r"^Illegal constant definition string |\w+Exception: ", "", one_line(problem)).rstrip(".")
        raise UsageError(f"--const: {reason}", "Write --const N=3, --const p=0.5, --const on=true.") from None


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _read(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)  # not its size: a pipe or a device has none
        if len(content) > MAX_BYTES:
            raise ProgramError(f"is larger than {MAX_BYTES >> 20} MiB", file=file, remedy="Split it.")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as problem:
        raise ProgramError(f"cannot be read: {problem.strerror}", file=file, remedy="Check the path.") from None
    except UnicodeDecodeError:
        raise ProgramError("is not text in UTF-8", file=file, remedy="Save it as UTF-8.") from None


def _parse(text: str, file: str) -> Any:
    """The parsed program; Storm reads only files, so that the text passes through one."""
    handle, path = tempfile.mkstemp(suffix=".prism")
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        return ask(lambda: storm().parse_prism_program(path, prism_compatibility=True))
    except StormRefusal as problem:
        raise _syntax(str(problem), text, file, "PRISM program") from None
    finally:
        os.unlink(path)


def _syntax(message: str, text: str, file: str, what: str, first_line: int = 1) -> ProgramError:
    """The error of a text that cannot be parsed, at its line and column in the file."""
    found = _POSITION.search(message + "\n")
    remedy = f"Correct the {what}"
    if found is None:
        problem = one_line(message).rstrip(".")
        return ProgramError(problem, file=file, line=_line_in(message, first_line), remedy=remedy)
    line, column, expected, rest = int(found[1]), int(found[2]), " ".join(found[3].split()), found[4]
    lines = text.split("\n")
    if line > len(lines) or not lines[line - 1].endswith(rest):  # relative to a part of the text
        line = next((n for n, content in enumerate(lines, 1) if content.endswith(rest)), line)
    shift = len(lines[line - 1]) - len(rest) if line <= len(lines) and lines[line - 1].endswith(rest) else 0
    return ProgramError(
        f"cannot be parsed, {expected}", file=file, line=first_line - 1 + line, column=shift + column, remedy=remedy
    )


def _line_in(message: str, default: int) -> int:
    """The line that Storm names inside a message, as in "Parsing error in model.prism, line 7"."""
    found = re.search(r"\bline (\d+)", message)
    return int(found[1]) if found else default


def line_of_command(program: Program, message: str) -> int:
    """The line of the command that a message of Storm quotes, with constants and formulas filled in; 0 if unknown."""
    quoted = re.search(r"for command '(.*?);?'(?: \(|\.?$)", one_line(message))
    filled = str(program.handle.substitute_constants().substitute_formulas())
    printed = [one_line(line).rstrip(";") for line in filled.splitlines() if line.startswith("\t[") and " -> " in line]
    plain = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), program.text)
    begins = [found.start() for found in re.finditer(r"\[\s*\w*\s*\][^\[\];]*?->", plain)]
    if quoted is None or quoted[1] not in printed or len(begins) != len(printed):  # renamed modules have other commands
        return 0
    return plain.count("\n", 0, begins[printed.index(quoted[1])]) + 1


def _refuse_missing(wanted: Sequence[str], given: Mapping[str, str], file: str) -> None:
    missing = [name for name in wanted if name not in given]
    if missing:
        remedy = "Add " + " ".join(f"--const {name}=…" for name in missing)
        raise UsageError(f"{file}: constants without a value: {', '.join(missing)}", f"{remedy}.")


def _branching(handle: Any) -> int:
    """An upper bound on the successors of one choice, and on the roundings of their probabilities beyond the first two.

    Commands of all modules may happen together; each multiplies by one more probability.
    """
    most = [max((len(command.updates) for command in module.commands), default=1) for module in handle.modules]
    return math.prod(most) + 2 * max(0, len(most) - 1)


def read_properties(file: str, program: Program) -> tuple[Property, ...]:
    """The properties in a file."""
    return properties(_read(file), program, file=file)


def properties(text: str, program: Program, *, file: str) -> tuple[Property, ...]:
    """The properties in a text, with open constants of the program's command line filled in.

    Filters are refused: what is answered is the value in the initial states.
    """
    try:
        parsed = ask(lambda: storm().parse_properties(text, program.handle))
    except StormRefusal as problem:
        raise _property_syntax(str(problem), text, file) from None
    found = tuple(_property(one, file) for one in _substitute(parsed, program))
    for one in found:
        refuse_unusable_numbers(one.formula, program.kind)
    names = [one.name for one in found if one.name != one.text]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise QuantityError(f"two properties are called {doubled[0]!r}", file=file, remedy="Rename one.")
    return found


def _substitute(parsed: list[Any], program: Program) -> list[Any]:
    """The properties with the values of constants that only they declare."""
    if not program.unused:
        return parsed
    declared = {constant.name for one in parsed for constant in one.get_undefined_constants()}
    for name, _ in program.unused:
        if name not in declared:
            raise UsageError(f"--const {name}: no constant of the program or its properties", "Leave it out.")
    values = {name: _constant(name, text) for name, text in program.unused}
    return list(ask(lambda: storm().instantiate_constants(program.handle, values, parsed))[1])


def _constant(name: str, text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if re.fullmatch(r"-?\d{1,18}", text) else storm().Rational(text)
    except (RuntimeError, ValueError):
        raise UsageError(f"--const {name}: {text!r} is no number", "Write --const N=3 or --const p=0.5.") from None


def _property_syntax(message: str, text: str, file: str) -> QuantityError:
    error = _syntax(message, text, file, "property")
    return QuantityError(error.problem, file=file, line=error.line, column=error.column, remedy=error.remedy)


def _property(parsed: Any, file: str) -> Property:
    formula = parsed.get_raw_formula()
    if _INITIAL not in str(parsed):
        raise QuantityError(
            f"the property {formula} has a filter",
            file=file,
            remedy="Ask for its value in the initial states: leave the filter out.",
        )
    open_constants = sorted(constant.name for constant in parsed.get_undefined_constants())
    if open_constants:
        raise QuantityError(
            f"the property {formula} has constants without a value: {', '.join(open_constants)}",
            file=file, remedy=f"Add {' '.join(f'--const {name}=…' for name in open_constants)}.",
        )  # fmt: skip
    name = parsed.get_name()  # a number, if it has none
    return Property(str(formula) if name.isdigit() else name, str(formula), formula)


def one_line(message: object) -> str:
    """The text of a message without line breaks."""
    return " ".join(str(message).split())
