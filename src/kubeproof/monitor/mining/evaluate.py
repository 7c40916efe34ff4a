"""How good rules are: on runs with injected faults, whose outcome is known, and on clean ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.arrival import Arrival, in_order
from kubeproof.monitor.mining.mine import MineOptions, mine
from kubeproof.monitor.mining.runs import RunInfo
from kubeproof.monitor.mining.traces import traces_of
from kubeproof.monitor.rules.rules import Rule
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

LATENESS_US = 0  # recorded runs are in order; what is not is sorted


@dataclass(frozen=True, slots=True)
class Judged:
    """One run: whether rules raised an alarm, and when the first came while the run went on."""

    info: RunInfo
    alarms: int
    first_us: int | None  # while running, at or after the activation of the fault where that is known
    is_premature: bool = False  # the only alarms while running came before the fault was active


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of an evaluation; `clean` are runs without an injected fault that did not fail."""

    true_alarms: int
    missed: int
    false_alarms: int  # runs with a fault that did no visible harm
    quiet: int
    silent_found: int
    silent: int
    clean_alarmed: int
    clean: int
    early: int
    leads_us: tuple[int, ...]
    damaged_found: int  # runs that failed without an injected fault
    damaged: int
    premature: int
    rules: int

    @property
    def failures(self) -> int:
        return self.true_alarms + self.missed

    @property
    def recall(self) -> float:
        return _share(self.true_alarms, self.failures)

    @property
    def precision(self) -> float:
        return _share(self.true_alarms, self.true_alarms + self.false_alarms)

    @property
    def f1(self) -> float:
        return _share(2 * self.true_alarms, 2 * self.true_alarms + self.false_alarms + self.missed)

    @property
    def accuracy(self) -> float:
        return _share(self.true_alarms + self.quiet, self.failures + self.false_alarms + self.quiet)

    @property
    def median_lead_us(self) -> int:
        return sorted(self.leads_us)[len(self.leads_us) // 2] if self.leads_us else 0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


Runs = Mapping[str, Sequence[Event]]


def by_run(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events of each run, as they come."""
    runs: dict[str, list[Event]] = {}
    for event in events:
        runs.setdefault(event[5], []).append(event)
    return runs


def watch(rules: Sequence[Rule], info: RunInfo, events: Sequence[Event]) -> list[Alarm]:
    """The alarms of a complete run; its clock goes on until the workload's end."""
    arrival = Arrival(LATENESS_US)
    partition = Partition(rules, run=info.name, gaps=arrival.gaps)
    partition.feed(in_order(sorted(events, key=lambda event: event[0]), arrival))
    if info.end_us is not None:
        partition.advance(info.end_us)
    partition.finish(complete=True)
    return [alarm for alarm in partition.fetch() if alarm.verdict == Verdict.VIOLATED]


def judge(rules: Sequence[Rule], info: RunInfo, events: Sequence[Event]) -> Judged:
    """What the rules say about a run."""
    alarms = watch(rules, info, events)
    moments = sorted(alarm.detected_us for alarm in alarms if not alarm.at_end)
    caused = [moment for moment in moments if info.activation_us is None or moment >= info.activation_us]
    return Judged(info, len(alarms), caused[0] if caused else None, bool(moments) and not caused)


def evaluate(rules: Sequence[Rule], infos: Iterable[RunInfo], runs: Runs) -> Scores:
    """The scores of given rules on all runs."""
    return score([judge(rules, info, runs[info.name]) for info in infos if info.name in runs], len(rules))


def cross_validate(infos: Sequence[RunInfo], runs: Runs, folds: int, options: MineOptions = MineOptions()) -> Scores:
    """The scores on each fold of rules that were mined from the clean runs of the others."""
    groups = sorted({info.group for info in infos})
    if len(groups) < folds:
        raise UsageError(f"{len(groups)} groups of runs cannot make {folds} folds", "Record more, or lower --folds.")
    fold = {group: number % folds for number, group in enumerate(groups)}
    results: list[Judged] = []
    most_rules = 0
    for number in range(folds):
        known = [info for info in infos if fold[info.group] != number and info.is_clean and info.name in runs]
        rules = mine(traces_of(event for info in known for event in runs[info.name]), options).rules.rules
        most_rules = max(most_rules, len(rules))
        unseen = [info for info in infos if fold[info.group] == number and info.name in runs]
        results += [judge(rules, info, runs[info.name]) for info in unseen]
    return score(results, most_rules)


def score(results: Sequence[Judged], rules: int) -> Scores:
    """The figures."""
    injected = [one for one in results if one.info.is_injected]
    failed = [one for one in injected if one.info.is_failure]
    harmless = [one for one in injected if not one.info.is_failure]
    clean = [one for one in results if one.info.is_clean]
    damaged = [one for one in results if one.info.is_failure and not one.info.is_injected]
    silent = [one for one in failed if one.info.is_silent]
    if not results:
        raise NothingToCheckError("E301 no run to evaluate. The directory needs runs.csv and the events of its runs.")
    leads = [lead for one in failed if (lead := _lead(one)) is not None]
    return Scores(
        _count_alarmed(failed), len(failed) - _count_alarmed(failed),
        _count_alarmed(harmless), len(harmless) - _count_alarmed(harmless),
        _count_alarmed(silent), len(silent), _count_alarmed(clean), len(clean), len(leads), tuple(leads),
        _count_alarmed(damaged), len(damaged), sum(one.is_premature for one in failed), rules,
    )  # fmt: skip


def _count_alarmed(results: Sequence[Judged]) -> int:
    return sum(one.alarms > 0 for one in results)


def _lead(one: Judged) -> int | None:
    """By how much the first alarm came before the first symptom; None if it did not."""
    if one.first_us is None or one.info.symptom_us is None or one.first_us >= one.info.symptom_us:
        return None
    return one.info.symptom_us - one.first_us
