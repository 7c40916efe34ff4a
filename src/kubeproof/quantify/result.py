"""What `kubeproof quantify` found out, as values for the reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from kubeproof.quantify.checking import Answer
from kubeproof.quantify.prism.fronts import Front
from kubeproof.quantify.prism.parametric import Varied
from kubeproof.quantify.prism.strategies import Strategy
from kubeproof.quantify.published.policy import Policy
from kubeproof.quantify.storm import Model
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """One property and its answer."""

    name: str
    text: str
    answer: Answer

    @property
    def verdict(self) -> Verdict | Literal[""]:
        """HOLDS or VIOLATED for a property with a threshold, UNKNOWN if it is open, empty for a number."""
        if not self.answer.is_converged:
            return Verdict.UNKNOWN
        if not self.answer.is_question:
            return ""
        return Verdict.HOLDS if self.answer.holds else Verdict.VIOLATED


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One model and all that was asked about it."""

    title: str
    kind: str
    states: int
    choices: int
    transitions: int
    build_s: float
    results: tuple[PropertyResult, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    headline: tuple[tuple[str, str], ...] = ()  # the parameters that a reader wants to see first
    policy: Policy | None = None
    fronts: tuple[Front, ...] = ()
    varied: tuple[Varied, ...] = ()
    strategies: tuple[Strategy, ...] = ()

    @property
    def check_s(self) -> float:
        """How long all properties took."""
        return sum(one.answer.elapsed_s for one in self.results)


@dataclass(frozen=True, slots=True)
class QuantifyResult:
    """All models of one command."""

    models: tuple[ModelResult, ...]
    swept: tuple[str, ...] = ()  # the constants in which the models differ

    @property
    def verdict(self) -> Verdict | Literal[""]:
        """VIOLATED before UNKNOWN before HOLDS; empty if only numbers were asked for and all were found."""
        words: set[str | None] = {one.verdict for model in self.models for one in model.results}
        words |= {one.verdict for model in self.models for one in model.varied}
        return next((word for word in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS) if word in words), "")


def model_result(
    title: str, model: Model, results: Iterable[PropertyResult], parameters: tuple[tuple[str, str], ...] = ()
) -> ModelResult:
    """The result of a model, with a note on states without successors."""
    notes: tuple[str, ...] = ()
    if model.deadlocks:
        notes = (f"{model.deadlocks:,} states without a successor were given a loop, as PRISM and Storm do",)
    return ModelResult(
        title, model.kind, model.states, model.choices, model.transitions, model.build_s, tuple(results),
        parameters, notes, headline=parameters,
    )  # fmt: skip
