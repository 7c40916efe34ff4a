"""`kubeproof simulate PATH...`: runs of manifests and a Scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kubeproof.cli.options.inputs import allows_outside, read_stdin
from kubeproof.cli.options.outputs import Output, emit
from kubeproof.cli.running.endings import INTERRUPTED, first_of, say
from kubeproof.cli.running.interruption import current
from kubeproof.cli.running.progress import ProgressLine, progress_line
from kubeproof.cli.running.spread_runs import pool_of
from kubeproof.errors import UsageError
from kubeproof.named_tuples import NamedTuple
from kubeproof.stop import until
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.simulate.options import SimulateOptions
    from kubeproof.simulate.outcome import Comparison, SimulationResult
    from kubeproof.stop import Stop

_MOST_S = 400 * 24 * 3600


def simulate_paths(paths: tuple[str, ...], outputs: tuple[Output, ...], given: dict[str, Any]) -> int:
    """Loads, simulates, and writes reports; the exit code."""
    from kubeproof.manifests.load import load
    from kubeproof.simulate.variation import parse_axis, variants

    options = _options(given)
    axes = tuple(parse_axis(text) for text in given["vary"])
    loaded = load(paths, stdin=read_stdin, allow_outside=allows_outside())
    wanted = variants(loaded, axes) if axes else [((), loaded)]
    line = progress_line(given["progress"], quiet=False)
    begin = time.monotonic()
    try:
        with current().gently() as stop:
            results: list[tuple[Any, SimulationResult]] = []
            for at, (settings, varied) in until(stop, enumerate(wanted)):
                which = f"variant {at + 1}/{len(wanted)}, " if len(wanted) > 1 else ""
                telling = None if line is None else _Telling(line, begin, which, options)
                found = _simulate(varied, options, telling, given["workers"], stop, is_first=not results)
                results += [] if found is None else [(settings, found)]
    finally:
        if line is not None:
            line.close()
    code = exit_code([result for _, result in results])
    if any(result.is_cut for _, result in results) or len(results) < len(wanted):
        say("interrupted")
        code = first_of((code, INTERRUPTED))
    if not axes:
        return _emit(outputs, results[0][1].verdict, results[0][1], code)
    from kubeproof.simulate.outcome import Comparison, Variant

    return _emit(outputs, "", Comparison(tuple(Variant(settings, result) for settings, result in results)), code)


def estimate_paths(paths: tuple[str, ...], outputs: tuple[Output, ...], given: dict[str, Any]) -> int:
    """`--rare`: loads, estimates how likely violations are, and writes reports; the exit code."""
    from kubeproof.manifests.load import load
    from kubeproof.report.simulate.rare import RENDERERS
    from kubeproof.simulate.rare import estimate_rare

    options = _options(given)
    loaded = load(paths, stdin=read_stdin, allow_outside=allows_outside())
    line = progress_line(given["progress"], quiet=False)
    telling = None if line is None else _Telling(line, time.monotonic(), "", options)
    within, ended = (None, None) if telling is None else (telling.within, telling.tell_ended)
    try:
        with current().gently() as stop:
            spread = pool_of(given["workers"], ended)
            found = estimate_rare(loaded, options, given["rare_factor"], within, spread, stop)
    finally:
        if line is not None:
            line.close()
    code = 1 if any(one.hits for one in found.intents) else 0
    if found.is_cut:
        say("interrupted")
        code = first_of((code, INTERRUPTED))
    return emit(outputs, lambda output: RENDERERS[output.format](found), code, verdict="")


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

    def tell_ended(self, runs: int) -> None:
        """Of runs that are made at the same time; the first was made before."""
        wanted = self.options.runs
        self._show(lambda: f"{runs + 1} of {wanted} runs, {100 * (runs + 1) / wanted:.0f} %")

    def _show(self, words: Callable[[], str]) -> None:
        self.line.show_simulated(time.monotonic() - self.begin_s, lambda: f"{self.which}{words()}")


def _simulate(
    loaded: Loaded,
    options: SimulateOptions,
    telling: _Telling | None,
    workers: int | None,
    stop: Stop,
    *,
    is_first: bool,
) -> SimulationResult | None:
    """The result; None if an interrupt leaves none, but then an earlier one is told."""
    from kubeproof.simulate.simulation import simulate_cluster

    within, ended = (None, None) if telling is None else (telling.within, telling.tell_ended)
    spread = pool_of(workers, ended) if options.runs > 1 else None
    try:
        return simulate_cluster(loaded, options, within, spread, stop)
    except KeyboardInterrupt:
        if is_first:
            raise
        return None


def _options(given: dict[str, Any]) -> SimulateOptions:
    from kubeproof.simulate.options import SimulateOptions

    return SimulateOptions(
        duration_s=parse_duration(given["duration"]),
        seed=given["seed"],
        runs=given["runs"],
        precision=None if given["precision"] is None else parse_share("--precision", given["precision"]),
        confidence=parse_share("--confidence", given["confidence"]),
        autoscaler=given["autoscaler"],
    )


def parse_duration(text: str) -> int:
    """Seconds of --duration."""
    from kubeproof.manifests.yaml.durations import parse_seconds

    duration_s = parse_seconds(text)
    if duration_s is None or not 0 < duration_s <= _MOST_S:
        raise UsageError(
            f"--duration {text!r} is not a duration above zero, in whole seconds, of at most 400 days",
            "Write --duration 30m.",
        )
    return duration_s


def parse_share(flag: str, text: str) -> float:
    """A percentage between 0 and 100 as a share; without the sign, a share as it is."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise UsageError(f"{flag} {text!r} is not between 0 and 100 %", f"Write {flag} 1% or {flag} 95%.")
    return share


def _emit(outputs: tuple[Output, ...], verdict: str, result: SimulationResult | Comparison, code: int) -> int:
    from kubeproof.report.simulate import cluster as simulation

    return emit(outputs, lambda output: simulation.RENDERERS[output.format](result), code, verdict=verdict)


def exit_code(results: list[SimulationResult]) -> int:
    """1 if an intent was violated, 3 if none had anything to say or one is open, else 0; without intents it is fine."""

    verdicts = {result.verdict for result in results}
    if Verdict.VIOLATED in verdicts:
        return 1
    return 3 if verdicts == {Verdict.VACUOUS} or Verdict.UNKNOWN in verdicts else 0
