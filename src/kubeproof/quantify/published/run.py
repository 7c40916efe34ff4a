"""The use case `kubeproof quantify autoscaling`: models x settings, each built, checked and forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from kubeproof.errors import UsageError
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import Program, Property, program, properties
from kubeproof.quantify.prism.reduction import reduce
from kubeproof.quantify.published.autoscaling import autoscaling_program, paper_properties
from kubeproof.quantify.published.files import OwnModel
from kubeproof.quantify.published.parameters import SETTINGS, AutoscalingParameters, change, show
from kubeproof.quantify.published.policy import Policy, optimal_policy
from kubeproof.quantify.result import ModelResult, QuantifyResult
from kubeproof.quantify.run import Progress, answer
from kubeproof.quantify.storm import Model
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class AutoscalingOptions:
    """Which models to check, and for what."""

    models: tuple[str, ...] = ("base",)
    settings: tuple[int, ...] = (1,)
    changes: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None  # the bound of the properties; the horizon if absent
    texts: tuple[str, ...] = ()  # instead of the paper's properties
    names: tuple[str, ...] = ()  # of the paper's properties; all if empty
    policy: str = ""  # name of the property whose policy is wanted
    reduce: bool = False
    exact: bool = False
    check: CheckSettings = CheckSettings()
    own: tuple[OwnModel, ...] = ()  # instead of the paper's models and settings


def parameters_of(setting: int, changes: Mapping[str, str]) -> AutoscalingParameters:
    """The parameters of one of the paper's settings, with changes."""
    return change(SETTINGS[setting], dict(changes))


def source_of(options: AutoscalingOptions) -> str:
    """The PRISM program of the only model and setting that was asked for."""
    if len(options.own) == 1:
        return autoscaling_program(options.own[0].model, options.own[0].parameters).text()
    if options.own or len(options.models) * len(options.settings) != 1:
        raise UsageError("several models cannot be printed as one program", "Ask for one --model and one --setting.")
    return autoscaling_program(options.models[0], parameters_of(options.settings[0], options.changes)).text()


def properties_of(options: AutoscalingOptions) -> str:
    """The properties that would be checked, as a file for PRISM or Storm."""
    if options.texts:
        return "".join(f"{text}\n" for text in options.texts)
    steps = options.steps or parameters_of(options.settings[0], options.changes).horizon
    return f"{paper_properties(steps)}\n"


def check_autoscaling(options: AutoscalingOptions, progress: Progress = lambda line: None) -> QuantifyResult:
    """The answers for every model and setting, in their order."""
    if options.exact and options.reduce:
        raise UsageError("--bisimulation computes with rounded numbers", "Leave it out, or --exact.")
    cases = options.own or tuple(_published(model, setting, options) for model in options.models
                                 for setting in options.settings)  # fmt: skip
    return QuantifyResult(tuple(_check(case, options, progress) for case in cases))


def _published(model: str, setting: int, options: AutoscalingOptions) -> OwnModel:
    """A model with the paper's parameters, and changes of the command line."""
    parameters = parameters_of(setting, options.changes)
    return OwnModel(f"{model} {setting}", model, parameters, tuple(options.changes), None)


def _check(case: OwnModel, options: AutoscalingOptions, progress: Progress) -> ModelResult:
    parameters, title = case.parameters, case.name
    generated = program(autoscaling_program(case.model, parameters).text(), file=title)
    wanted = choose_properties(generated, options.steps or case.steps or parameters.horizon, options)
    built = build(generated, wanted, exact=options.exact)
    progress(f"{title}: {built.states:,} states in {built.build_s:.1f} s")
    smaller = reduce(built, wanted) if options.reduce else built
    result = answer(title, smaller, wanted, options.check, show(parameters), progress)
    if options.reduce:
        result = _as_built(result, built, smaller)
    policy = _policy(generated, wanted, parameters, options.policy) if options.policy else None
    return replace(result, headline=_headline(case), policy=policy)


def _as_built(result: ModelResult, built: Model, smaller: Model) -> ModelResult:
    """The result with the sizes of the whole model, and a note on the one that was checked."""
    note = (
        f"checked on a bisimilar model of {smaller.states:,} states, {smaller.choices:,} choices and "
        f"{smaller.transitions:,} transitions, found in {smaller.build_s:.2f} s"
    )
    return replace(
        result, states=built.states, choices=built.choices, transitions=built.transitions,
        build_s=built.build_s + smaller.build_s, notes=(*result.notes, note),
    )  # fmt: skip


def _headline(case: OwnModel) -> tuple[tuple[str, str], ...]:
    """What tells the settings apart, and what was changed."""
    names = ("init_pods", "max_pods", "response_time", *case.changed)
    return tuple((name, value) for name, value in show(case.parameters) if name in names)


def _policy(generated: Program, wanted: tuple[Property, ...], parameters: AutoscalingParameters, name: str) -> Policy:
    found = next((one for one in wanted if one.name == name), None)
    if found is None:
        raise UsageError(f"--policy {name}: no such property", f"There are: {', '.join(one.name for one in wanted)}.")
    return optimal_policy(generated, name, found.text, parameters)


def choose_properties(program: Program, steps: int, options: AutoscalingOptions) -> tuple[Property, ...]:
    """The properties of the command line, or else the paper's."""
    if options.texts:
        return tuple(one for text in options.texts for one in properties(text, program, file="--property"))
    listed = properties(paper_properties(steps), program, file="Table 7")
    for name in options.names:
        if name not in [one.name for one in listed]:
            raise UsageError(f"--only {name}: no such property", f"There are: {', '.join(o.name for o in listed)}.")
    return tuple(one for one in listed if not options.names or one.name in options.names)
