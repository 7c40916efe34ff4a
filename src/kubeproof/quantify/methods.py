"""How Storm is made to compute: methods, precision, and where they do harm."""

from __future__ import annotations

from typing import Any

from kubeproof.errors import UsageError
from kubeproof.quantify.prism.formulas import is_cost_bounded, is_moment
from kubeproof.quantify.storm import Model, storm
from kubeproof.values import dataclass

CONTINUOUS = ("ctmc", "ma")  # kinds of models
METHODS = {
    "auto": "",
    "optimistic-value-iteration": "OPTIMISTIC_VALUE_ITERATION",
    "interval-iteration": "INTERVAL_ITERATION",
    "sound-value-iteration": "SOUND_VALUE_ITERATION",
}
UNSOUND = ("sound-value-iteration",)  # in spite of its name: Storm's intervals of rewards may miss the exact value
MOST_ITERATIONS = {"interval-iteration": 1_000_000}  # by itself it never ends where the value is 0


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How precise an answer must be. `precision` is relative; `method` one of METHODS, for sound answers."""

    precision: float = 1e-6
    method: str = "auto"
    max_iterations: int | None = None
    is_sound: bool = True


def environment_of(model: Model, formula: Any, settings: CheckSettings) -> Any:
    """Storm's settings: sound methods, or exact ones for an exact model, at the wanted precision."""
    stormpy = storm()
    if model.is_exact:
        environment = stormpy.environments.default(model.handle)
        # Weighing objectives, Storm stops within 1e-4 of the value, with fractions as well, unless told to go on.
        environment.modelchecker().multi().precision = stormpy.Rational(0)
        return environment
    if not 0 < settings.precision < 1:
        raise UsageError(f"a precision of {settings.precision:g} is not between 0 and 1", "The default is 1e-6.")
    is_plain = not settings.is_sound or _is_spoilt_by_soundness(model, formula)
    environment = stormpy.Environment() if is_plain else stormpy.environments.default(model.handle)
    environment.modelchecker().multi().precision = stormpy.Rational(repr(settings.precision))
    for part in (environment.solver().min_max(), environment.solver().native()):
        part.precision = stormpy.Rational(repr(settings.precision))
        part.relative_termination_criterion = True
        most = settings.max_iterations or MOST_ITERATIONS.get(settings.method)
        if most is not None:
            part.maximal_number_of_iterations = most
    if METHODS[settings.method] and not is_plain:
        environment.solver().min_max().method = getattr(stormpy.environments.MinMaxMethod, METHODS[settings.method])
    return environment


def _is_spoilt_by_soundness(model: Model, formula: Any) -> bool:
    """True for what Storm 2.0 answers wrongly, or never, when it is to be sound; no such answer has an interval anyway.

    Rewards at one moment of continuous time are refined starting from the last result instead of the rewards, and end
    near 0. A question that a reward bounds is answered level by level, and may iterate for ever on a level whose value
    is the greatest possible. (Each level gets a millionth, divided by the number of levels, as precision.)
    """
    return is_cost_bounded(formula) or (model.kind in CONTINUOUS and is_moment(formula))
