"""Tuning an experiment of the published model: thresholds, bounds and cool-down of its autoscalers, and its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.events.quantities import Prices
from kubeproof.intents.library.service_levels import RESPONSE_TIME
from kubeproof.manifests.editing.operations import Operation, drop, put
from kubeproof.manifests.editing.splicing import read_plain
from kubeproof.manifests.editing.written import Written, rewrite
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.simulate.published.declarations import Experiment, Promise, ServiceSpec
from kubeproof.simulate.published.result import Curves
from kubeproof.simulate.published.run import simulate
from kubeproof.simulate.statistics.intervals import Interval
from kubeproof.stop import Stop
from kubeproof.tune.clusters import USUAL_PRICES
from kubeproof.tune.margins import margin_of
from kubeproof.tune.pools import NODES
from kubeproof.tune.racing import Budget, Race, Tell
from kubeproof.tune.ranking import rank, rank_one
from kubeproof.tune.result import TuneResult
from kubeproof.tune.space import Knob, Setting, Space
from kubeproof.tune.subject import Measure
from kubeproof.tune.values import Asked, read_whole
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.inputs import WrittenOut
from kubeproof.verify.fix.result import FileChange

USUAL_PERCENTILE = 99  # within one interval, where an experiment promises nothing
USUAL: dict[str, Sequence[float]] = {
    "up": (0.5, 0.6, 0.7, 0.8, 0.9),
    "coolDown": (5, 10, 20, 40),
    "max": (2, 3, 4, 6, 8),
}
_FIELDS = {  # as the file names them, and as the declaration does
    "up": "up", "down": "down", "coolDown": "quiet_cycles", "min": "least", "max": "most",
}  # fmt: skip
_SHARES = ("up", "down")


@dataclass(frozen=True, slots=True)
class _Control:
    """A knob, and what its values make of an experiment and of its file."""

    knob: Knob
    apply: Callable[[Experiment, int], Experiment]
    write: Callable[[Experiment, int], tuple[Operation, ...]]


class Published:
    """An experiment with knobs; all its runs are alike."""

    most_runs = 1

    def __init__(self, experiment: Experiment, asked: Sequence[Asked]) -> None:
        self.experiment = experiment
        self._controls = _make_controls(experiment, asked)
        self.space = Space(tuple(control.knob for control in self._controls))
        self.promises = experiment.promises or tuple(
            Promise(service.name, USUAL_PERCENTILE, experiment.interval_s) for service in experiment.services
        )

    def apply(self, setting: Setting) -> Experiment:
        """The experiment with a setting."""
        found = self.experiment
        for control, at in zip(self._controls, setting, strict=True):
            found = control.apply(found, at)
        return found

    def write(self, setting: Setting) -> tuple[Operation, ...]:
        """What to change of its file."""
        pairs = zip(self._controls, setting, strict=True)
        return tuple(
            one for control, at in pairs if at != control.knob.now for one in control.write(self.experiment, at)
        )

    def run(self, setting: Setting, runs: int) -> Measure:
        """What a run gives."""
        experiment = self.apply(setting)
        curves = simulate(experiment)
        promises = tuple(_judge(promise, curves, experiment) for promise in self.promises)
        return Measure((cost_of(experiment, curves),), promises, margin_of(promises))

    def run_again(self, setting: Setting, runs: int) -> Measure:
        """The same: there is no luck."""
        return self.run(setting, runs)


def cost_of(experiment: Experiment, curves: Curves) -> float:
    """What an hour costs: nodes, and pods as many as there are on the mean."""
    prices: Prices = experiment.prices or USUAL_PRICES
    pods = sum(reading.pods for reading in curves.readings) / experiment.intervals
    return prices.node_hour * len(experiment.nodes) + prices.pod_hour * pods


def _judge(promise: Promise, curves: Curves, experiment: Experiment) -> IntentOutcome:
    """A percentile of all requests; those that do not end take as long as the experiment."""
    one = next(each for each in curves.responses if each.service == promise.service)
    total = one.finished + one.unfinished
    needed = -(-total * promise.percentile // 100)
    seconds, seen = experiment.intervals * experiment.interval_s, 0
    for intervals, count in one.counts:
        seen += count
        if seen >= needed:
            seconds = intervals * experiment.interval_s
            break
    is_kept = seconds <= promise.within_s
    verdict = Verdict.VACUOUS if not total else Verdict.SAMPLED_OK if is_kept else Verdict.VIOLATED
    return IntentOutcome(
        id=RESPONSE_TIME.id,
        intent=f"{RESPONSE_TIME.key} {promise.service}",
        target=promise.service,
        verdict=verdict,
        detail=f"{seconds:g} s, p{promise.percentile} at most {promise.within_s:g} s wanted",
        key=RESPONSE_TIME.key,
        measured=Interval(seconds, seconds, seconds) if total else None,
        limit=promise.within_s,
    )


# -- knobs --------------------------------------------------------------------------------------------


def _make_controls(experiment: Experiment, asked: Sequence[Asked]) -> list[_Control]:
    found: list[_Control] = []
    for one in asked or _usual(experiment):
        service, _, field = one.key.rpartition(".")
        number = next((at for at, each in enumerate(experiment.services) if each.name == service), None)
        if one.key == NODES:
            found.append(_nodes(experiment, one))
        elif number is not None and field in _FIELDS:
            found.append(_field(experiment, number, field, one))
        else:
            known = [NODES, *(f"{each.name}.{name}" for each in experiment.services for name in _FIELDS)]
            raise UsageError(f"--set {one.key}: the experiment has no such field", f"Known: {', '.join(known)}.")
    keys = [control.knob.key for control in found]
    if len(set(keys)) < len(keys):
        raise UsageError("--set names a field twice", "Give all its values together.")
    return found


def _usual(experiment: Experiment) -> list[Asked]:
    fields = [
        Asked(f"{service.name}.{field}", tuple(f"{value:g}" for value in values))
        for service in experiment.services
        for field, values in USUAL.items()
    ]
    count = len(experiment.nodes)
    return [*fields, Asked(NODES, tuple(str(number) for number in range(max(1, count - 1), count + 2)))]


def _field(experiment: Experiment, number: int, field: str, asked: Asked) -> _Control:
    rules: Any = experiment.services[number].scaler
    now = getattr(rules, _FIELDS[field])
    read = _read_share if field in _SHARES else lambda key, text: read_whole(key, text, 1)
    values = sorted({*(read(asked.key, text) for text in asked.values), now})

    def show(value: float) -> str:
        return f"{100 * value:g}%" if field in _SHARES else f"{value:g}"

    def change(service: ServiceSpec, at: int) -> ServiceSpec:
        scaler = replace(service.scaler, **{_FIELDS[field]: values[at]})
        return replace(service, scaler=replace(scaler, most=max(scaler.most, scaler.least)))

    def apply(whole: Experiment, at: int) -> Experiment:
        services = tuple(change(each, at) if place == number else each for place, each in enumerate(whole.services))
        return replace(whole, services=services)

    def write(whole: Experiment, at: int) -> tuple[Operation, ...]:
        value = show(values[at]) if field in _SHARES else values[at]
        return (put("spec", "services", number, "scaler", field, value=value),)

    return _Control(Knob(asked.key, tuple(map(show, values)), values.index(now)), apply, write)


def _nodes(experiment: Experiment, asked: Asked) -> _Control:
    nodes = experiment.nodes
    values = sorted({*(read_whole(NODES, text, 1, 10_000) for text in asked.values), len(nodes)})

    def listed(at: int) -> list[Any]:
        more = [replace(nodes[-1], name=f"{nodes[-1].name}-{number + 1}") for number in range(values[at] - len(nodes))]
        return [*nodes[: values[at]], *more]

    def apply(whole: Experiment, at: int) -> Experiment:
        return replace(whole, nodes=tuple(listed(at)))

    def write(whole: Experiment, at: int) -> tuple[Operation, ...]:
        gone = [drop("spec", "nodes", place) for place in range(len(nodes) - 1, values[at] - 1, -1)]
        come = [
            put("spec", "nodes", place, value={"name": one.name, "cpu": one.cpu, "memory": one.memory})
            for place, one in enumerate(listed(at))
            if place >= len(nodes)
        ]
        return (*gone, *come)

    return _Control(Knob(NODES, tuple(map(str, values)), values.index(len(nodes))), apply, write)


def _read_share(key: str, text: str) -> float:
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 100:
        raise UsageError(f"--set {key}={text} is not a share above zero", "Write a value such as 80% or 0.8.")
    return share


# -- the search ---------------------------------------------------------------------------------------


def tune_experiment(
    experiment: Experiment,
    asked: Sequence[Asked] = (),
    *,
    settings: int = 40,
    seed: int = 0,
    text: tuple[str, str] | None = None,
    stop: Stop | None = None,
    tell: Tell = None,
) -> TuneResult:
    """The ranking of the settings that were looked at; `text` is name and content of the file that has it."""
    begin = time.monotonic()
    subject = Published(experiment, asked)
    race = Race(subject, Budget(settings, settings), Random(seed), stop or Stop(), tell)
    race.run()
    best = race.best()
    operations = () if best is None else subject.write(best)
    return TuneResult(
        scenario=experiment.name,
        knobs=subject.space.knobs,
        ranking=rank(race, best),
        refused=(),
        best=None if best is None else rank_one(race, best, best),
        confirmed=None,
        passed_over=(),
        verified=(),
        written=None if text is None or not operations else _write(text, operations),
        does=tuple(f"{one.field}: {'goes' if one.is_removed else one.value}" for one in operations),
        size=subject.space.size,
        runs=race.runs,
        duration_s=round(experiment.intervals * experiment.interval_s),
        seed=seed,
        ended_by=race.ended_by,
        has_prices=experiment.prices is not None,
        elapsed_s=time.monotonic() - begin,
        notes=() if experiment.promises else (_say_usual(subject),),
    )


def _say_usual(subject: Published) -> str:
    told = subject.promises[0]
    words = f"{told.percentile} % of the requests to each service within {told.within_s:g} s"
    return f"the experiment promises nothing: taken is {words}"


def _write(text: tuple[str, str], operations: tuple[Operation, ...]) -> WrittenOut:
    name, content = text
    written = Written(name, 0, (), read_plain(content, name)[0])
    changed = rewrite(((name, content),), [(written, operations)], ())
    refused = dict(changed.refused)
    if refused:
        return WrittenOut((), tuple(refused.items()), "")
    return WrittenOut((FileChange(name, content, dict(changed.texts)[name]),), (), "")
