"""The use cases of `kubeproof quantify`: any PRISM program with its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.quantify.checking import check
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.building import build, is_cut
from kubeproof.quantify.prism.fronts import asks_for_front, find_front
from kubeproof.quantify.prism.parametric import vary
from kubeproof.quantify.prism.programs import Program, Property, properties, read_program, read_properties
from kubeproof.quantify.prism.ranges import Range, list_cases, read_range
from kubeproof.quantify.prism.strategies import Strategy, find_strategy
from kubeproof.quantify.result import ModelResult, PropertyResult, QuantifyResult, model_result
from kubeproof.quantify.storm import Model
from kubeproof.values import dataclass

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PrismOptions:
    """What to check on a PRISM program."""

    properties_file: str | None = None
    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of the file's properties; all if empty
    constants: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False
    whole: bool = False
    settings: CheckSettings = CheckSettings()
    varied: Mapping[str, str] = field(default_factory=dict)  # constants that stay open, with their ranges
    policy: str = ""  # the name of the property whose decisions are wanted


def check_prism(file: str, options: PrismOptions, progress: Progress = lambda line: None) -> QuantifyResult:
    """The answers to all properties asked about a PRISM program, for every value of its constants."""
    if options.varied:
        return QuantifyResult((_vary(file, options, progress),))
    swept, cases = list_cases(options.constants)
    if swept and options.policy:
        raise UsageError("--policy is about one model", f"Give {', '.join(swept)} one value.")
    return QuantifyResult(tuple(_check(file, case, swept, options, progress) for case in cases), swept)


def _check(
    file: str, constants: Mapping[str, str], swept: tuple[str, ...], options: PrismOptions, progress: Progress
) -> ModelResult:
    """The answers for one choice of constants."""
    program = read_program(file, constants)
    wanted = _choose_properties(program, options)
    model = build(program, wanted, exact=options.exact, whole=options.whole)
    title = ", ".join(f"{name}={constants[name]}" for name in swept) or file
    progress(f"{title}: {model.states:,} states")
    result = answer(title, model, wanted, options.settings, program.constants, progress)
    if is_cut(wanted, options.whole):
        result = replace(result, notes=(*result.notes, "built only up to the goal of the property"))
    if options.policy:
        result = replace(result, strategies=(_find_strategy(program, wanted, options.policy),))
    return result


def _find_strategy(program: Program, wanted: Sequence[Property], name: str) -> Strategy:
    found = next((one for one in wanted if one.name == name), None)
    if found is None:
        raise UsageError(f"--policy {name}: no such property", f"There are: {', '.join(one.name for one in wanted)}.")
    return find_strategy(program, found)


def _vary(file: str, options: PrismOptions, progress: Progress) -> ModelResult:
    """The answers as functions of constants that stay open."""
    ranges: dict[str, Range] = {}
    for name, text in options.varied.items():
        found = read_range(name, text, "--vary")
        if found is None:
            raise UsageError(f"--vary {name}={text} is no range", "Write --vary p=0.01..0.2.")
        ranges[name] = found
    program = read_program(file, options.constants, varied=ranges)
    varied = []
    for one in _choose_properties(program, options):
        answer_of_one, model = vary(program, one, ranges)
        varied.append(answer_of_one)
        progress(f"{file}: {one.name} in {answer_of_one.elapsed_s:.1f} s")
    told = tuple((name, f"{text}, open") for name, text in options.varied.items())
    return replace(model_result(file, model, (), (*program.constants, *told)), varied=tuple(varied))


def _choose_properties(program: Program, options: PrismOptions) -> tuple[Property, ...]:
    """The properties of the file that were asked for by name, then those of the command line."""
    listed = read_properties(options.properties_file, program) if options.properties_file else ()
    for name in options.names:
        if name not in [one.name for one in listed]:
            known = ", ".join(one.name for one in listed) or "none"
            raise NothingToCheckError(f"E301 there is no property {name!r}. The file has: {known}.")
    chosen = tuple(one for one in listed if not options.names or one.name in options.names)
    given = tuple(one for text in options.texts for one in properties(text, program, file="--property"))
    if not chosen + given:
        raise NothingToCheckError(
            "E301 no property is asked for. Add --props FILE or --property 'Pmax=? [F \"goal\"]'."
        )
    return chosen + given


def answer(
    title: str, model: Model, wanted: Sequence[Property], settings: CheckSettings,
    parameters: tuple[tuple[str, str], ...] = (), progress: Progress = lambda line: None,
) -> ModelResult:  # fmt: skip
    """The result of checking all properties, one after the other."""
    results, fronts = [], []
    for one in wanted:
        if asks_for_front(one.formula):
            fronts.append(find_front(model, one.name, one.formula, settings))
            progress(f"{title}: {one.name} in {fronts[-1].elapsed_s:.1f} s")
            continue
        results.append(PropertyResult(one.name, one.text, check(model, one.formula, settings=settings)))
        progress(f"{title}: {one.name} in {results[-1].answer.elapsed_s:.1f} s")
    return replace(model_result(title, model, results, parameters), fronts=tuple(fronts))
