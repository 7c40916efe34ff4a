"""The use cases of `kubeproof quantify`: any PRISM program with its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from kubeproof.errors import NothingToCheckError
from kubeproof.quantify.checking import check
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.building import build, is_cut
from kubeproof.quantify.prism.programs import Program, Property, properties, read_program, read_properties
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


def check_prism(file: str, options: PrismOptions, progress: Progress = lambda line: None) -> QuantifyResult:
    """The answers to all properties asked about a PRISM program."""
    program = read_program(file, options.constants)
    wanted = _choose_properties(program, options)
    model = build(program, wanted, exact=options.exact, whole=options.whole)
    progress(f"{file}: {model.states:,} states")
    result = answer(file, model, wanted, options.settings, program.constants, progress)
    if is_cut(wanted, options.whole):
        result = replace(result, notes=(*result.notes, "built only up to the goal of the property"))
    return QuantifyResult((result,))


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
    results = []
    for one in wanted:
        results.append(PropertyResult(one.name, one.text, check(model, one.formula, settings=settings)))
        progress(f"{title}: {one.name} in {results[-1].answer.elapsed_s:.1f} s")
    return model_result(title, model, results, parameters)
