"""Compares variants of a cluster on the same load model: what each takes, and how likely each breaks an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.errors import UsageError
from kubeproof.quantify.clusters.compare_result import Comparison, Line, Variant
from kubeproof.quantify.clusters.options import AMOUNTS, WITHIN, ClusterOptions
from kubeproof.quantify.clusters.run import quantify_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubeproof.manifests.loaded import Loaded
    from kubeproof.quantify.clusters.result import ClusterResult, Span
    from kubeproof.quantify.clusters.space import Report

AGAINST = ("energy", "cost", "nodes", "pods")


def compare(
    variants: Sequence[tuple[str, Loaded]],
    options: ClusterOptions,
    *,
    risk: str = "",
    against: str = "",
    progress: Report = None,
) -> Comparison:
    """The answers about every variant side by side.

    `risk` is the name of the intent that the plot shows, by default the first; `against` the amount, by default the
    first of `AGAINST` that the Scenario gives.
    """
    check_same_load(variants)
    results = [(name, quantify_cluster(loaded, options, progress)) for name, loaded in variants]
    return compare_results(results, risk, against)


def check_same_load(variants: Sequence[tuple[str, Loaded]]) -> None:
    """Refuses variants with other events, intents, starts or settings of quantification: nothing would be compared."""
    first_name, first = variants[0]
    for name, loaded in variants[1:]:
        for what in ("events", "intents", "start", "quantify"):
            if getattr(loaded.scenario, what) != getattr(first.scenario, what):
                raise UsageError(
                    f"{first_name} and {name} have different {what} in their Scenarios",
                    "Put one Scenario into files that all variants share, and name them with --with.",
                )


def compare_results(results: Sequence[tuple[str, ClusterResult]], risk: str, against: str) -> Comparison:
    """The answers as lines with one span per variant, and the point of each variant in the plot."""
    lines = tuple(_lines([result for _, result in results]))
    risks = [line for line in lines if line.question == WITHIN]
    amounts = [line for line in lines if line.question == AMOUNTS]
    chosen = _choose(risks, risk, "--risk", "safety intent with a violation to fear")
    paid = _choose(amounts, against or _price(amounts), "--against", "amount")
    variants = tuple(Variant(name, result) for name, result in results)
    return Comparison(variants, lines, risk=chosen, against=paid)


def _price(amounts: Sequence[Line]) -> str:
    names = {line.name for line in amounts}
    return next((name for name in AGAINST if name in names), "")


def _choose(lines: Sequence[Line], name: str, flag: str, what: str) -> Line | None:
    """The line of this name, by default the first; None if there is none to choose from."""
    found = [line for line in lines if name in ("", line.name)]
    if name and not found:
        known = ", ".join(line.name for line in lines) or "none"
        raise UsageError(f"{flag} {name!r} is no {what} here", f"There are: {known}.")
    return found[0] if found else None


def _lines(results: Sequence[ClusterResult]) -> Iterator[Line]:
    """One line per question that all variants answer, in the order of the first."""
    answers = [dict(_answers(result)) for result in results]
    for key in answers[0]:
        if all(key in found for found in answers):
            question, name, unit = key
            yield Line(question, name, unit, tuple(found[key] for found in answers))


def _answers(result: ClusterResult) -> Iterator[tuple[tuple[str, str, str], Span]]:
    for one in result.intents:
        for question, unit, span in (
            ("within", "probability", one.within),
            ("ever", "probability", one.ever),
            ("first", "s", one.first_s),
        ):
            if span is not None:
                yield (question, one.intent, unit), span
    for amount in result.amounts:
        yield ("amounts", amount.name, amount.unit), amount.span
    for shortage in result.shortages:
        for question, unit, span in (
            ("short", "share of the horizon", shortage.within),
            ("long-run", "share of time", shortage.span),
            ("recovery", "s", shortage.recovery_s),
        ):
            if span is not None:
                yield (question, shortage.intent, unit), span
