"""`kubeproof simulate PATH...`: runs of manifests and a Scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kubeproof.cli.inputs import read_stdin
from kubeproof.cli.outputs import Output, emit, tell_where
from kubeproof.cli.progress import ProgressLine, progress_line
from kubeproof.cli.spread_runs import pool_of
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.simulate.options import SimulateOptions
    from kubeproof.simulate.outcome import Comparison, SimulationResult

_MOST_S = 400 * 24 * 3600


def simulate_paths(paths: tuple[str, ...], outputs: tuple[Output, ...], given: dict[str, Any]) -> int:
    """Loads, simulates, and writes reports; the exit code."""
    from kubeproof.manifests.load import load
    from kubeproof.simulate.variation import parse_axis, variants

    options = _options(given)
    axes = tuple(parse_axis(text) for text in given["vary"])
    loaded = load(paths, stdin=read_stdin)
    wanted = variants(loaded, axes) if axes else [((), loaded)]
    line = progress_line(given["progress"], quiet=False)
    begin = time.monotonic()
    try:
        results = []
        for at, (settings, varied) in enumerate(wanted):
            which = f"variant {at + 1}/{len(wanted)}, " if len(wanted) > 1 else ""
            telling = None if line is None else _Telling(line, begin, which, options)
            results.append((settings, _simulated(varied, options, telling, given["workers"])))
    finally:
        if line is not None:
            line.close()
    if not axes:
        _emit(outputs, results[0][1].verdict, results[0][1])
        return exit_code([results[0][1]])
    from kubeproof.simulate.outcome import Comparison, Variant

    _emit(outputs, "", Comparison(tuple(Variant(settings, result) for settings, result in results)))
    return exit_code([result for _, result in results])


class _Telling(NamedTuple):
    """Tells on a line how far the runs are."""

    line: ProgressLine
    begin_s: float
    which: str
    options: SimulateOptions

    def within(self, run: int, now_s: int) -> None:
        """Of runs that are made one after the other."""
        options = self.options
        done = (run + now_s / options.duration_s) / options.runs
        of_run = f"{now_s:,} of {options.duration_s:,} s"
        self._show(lambda: f"run {run + 1}/{options.runs}: {of_run}, {100 * done:.0f} %")

    def ended(self, runs: int) -> None:
        """Of runs that are made at the same time; the first was made before."""
        wanted = self.options.runs
        self._show(lambda: f"{runs + 1} of {wanted} runs, {100 * (runs + 1) / wanted:.0f} %")

    def _show(self, words: Callable[[], str]) -> None:
        self.line.simulated(time.monotonic() - self.begin_s, lambda: f"{self.which}{words()}")


def _simulated(
    loaded: Loaded, options: SimulateOptions, telling: _Telling | None, workers: int | None
) -> SimulationResult:
    from kubeproof.simulate.simulation import simulate_cluster

    within, ended = (None, None) if telling is None else (telling.within, telling.ended)
    return simulate_cluster(loaded, options, within, pool_of(workers, ended) if options.runs > 1 else None)


def _options(given: dict[str, Any]) -> SimulateOptions:
    from kubeproof.manifests.durations import parse_seconds
    from kubeproof.simulate.options import SimulateOptions

    duration_s = parse_seconds(given["duration"])
    if duration_s is None or not 0 < duration_s <= _MOST_S:
        raise UsageError(
            f"--duration {given['duration']!r} is not a duration above zero, in whole seconds, of at most 400 days",
            "Write --duration 30m.",
        )
    return SimulateOptions(
        duration_s=duration_s, seed=given["seed"], runs=given["runs"], autoscaler=given["autoscaler"]
    )


def _emit(outputs: tuple[Output, ...], verdict: str, result: SimulationResult | Comparison) -> None:
    from kubeproof.report import simulation

    emit(outputs, lambda output: simulation.RENDERERS[output.format](result))
    tell_where(outputs, verdict)


def exit_code(results: list[SimulationResult]) -> int:
    """1 if an intent was violated, 3 if none had anything to say, else 0; a run without intents is fine."""
    from kubeproof.simulate.outcome import VACUOUS, VIOLATED

    verdicts = {result.verdict for result in results}
    if VIOLATED in verdicts:
        return 1
    return 3 if verdicts == {VACUOUS} else 0
