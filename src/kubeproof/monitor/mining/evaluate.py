"""How good rules are: on runs with injected faults, whose outcome is known, and on clean ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.book import IncidentBook
from kubeproof.monitor.incidents.policy import Level, Policy
from kubeproof.monitor.intake.arrival import Arrival, in_order
from kubeproof.monitor.mining.mine import MineOptions, mine
from kubeproof.monitor.mining.runs import RunInfo
from kubeproof.monitor.mining.traces import traces_of
from kubeproof.monitor.rules.rules import Rule, RuleSet
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

MOST_TRIED = 5  # different events; a run breaks few rules on its own
LATENESS_US = 0  # recorded runs are in order; what is not is sorted


@dataclass(frozen=True, slots=True)
class Judged:
    """One run: how grave its incidents were, and when there were the first warning and the first failure.

    Moments are those while the run went on, at or after the activation of the fault where that is known.
    """

    info: RunInfo
    level: Level | None  # the highest; None without an alarm
    warned_us: int | None
    failed_us: int | None
    is_premature: bool = False  # there were warnings while it ran, but only before the fault was active

    @property
    def is_alarmed(self) -> bool:
        return self.level is Level.FAILURE


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
    early: int  # failures with a warning before the first symptom
    early_failures: int  # of these, called a failure by then
    leads_us: tuple[int, ...]
    damaged_found: int  # runs that failed without an injected fault
    damaged: int
    premature: int
    rules: int
    failure_at: tuple[int, ...] = (1,)  # different events that make a failure; in each fold what was learnt there

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


def judge(rules: RuleSet, info: RunInfo, events: Sequence[Event]) -> Judged:
    """What the rules say about a run."""
    return judge_alarms(watch(rules.rules, info, events), info, rules)


def judge_alarms(alarms: Iterable[Alarm], info: RunInfo, rules: RuleSet) -> Judged:
    """What alarms about a run come to."""
    book = IncidentBook(rules.rules, rules.incidents)
    ordered = [book.take(alarm) for alarm in sorted(alarms, key=lambda alarm: alarm.detected_us)]
    grave = [alarm for alarm in ordered if alarm.level is not Level.INFORMATION and not alarm.at_end]
    caused = [one for one in grave if info.activation_us is None or one.detected_us >= info.activation_us]
    warned_us = caused[0].detected_us if caused else None
    failed_us = next((one.detected_us for one in caused if one.level is Level.FAILURE), None)
    highest = max((alarm.level for alarm in ordered), key=list(Level).index, default=None)
    return Judged(info, highest, warned_us, failed_us, bool(grave) and not caused)


def evaluate(rules: RuleSet, infos: Iterable[RunInfo], runs: Runs) -> Scores:
    """The scores of given rules on all runs."""
    judged = [judge(rules, info, runs[info.name]) for info in infos if info.name in runs]
    return score(judged, len(rules.rules), (rules.incidents.failure_at,))


def cross_validate(infos: Sequence[RunInfo], runs: Runs, folds: int, options: MineOptions = MineOptions()) -> Scores:
    """The scores on each fold of rules that were mined from the clean runs of the others."""
    groups = sorted({info.group for info in infos})
    if len(groups) < folds:
        raise UsageError(f"{len(groups)} groups of runs cannot make {folds} folds", "Record more, or lower --folds.")
    fold = {group: number % folds for number, group in enumerate(groups)}
    results: list[Judged] = []
    learned: list[RuleSet] = []
    for number in range(folds):
        known = [info for info in infos if fold[info.group] != number and info.name in runs]
        learned.append(learn(known, runs, options))
        unseen = [info for info in infos if fold[info.group] == number and info.name in runs]
        results += [judge(learned[-1], info, runs[info.name]) for info in unseen]
    return score(
        results,
        max(len(rules.rules) for rules in learned),
        tuple(rules.incidents.failure_at for rules in learned),
    )


def learn(infos: Sequence[RunInfo], runs: Runs, options: MineOptions = MineOptions()) -> RuleSet:
    """Rules mined from the clean ones of these runs, and from the others how much evidence makes a failure."""
    rules = mine(traces_of(event for info in infos if info.is_clean for event in runs[info.name]), options).rules
    injected = [info for info in infos if info.is_injected]
    return replace(rules, incidents=learn_policy(rules, injected, runs).policy)


@dataclass(frozen=True, slots=True)
class Learned:
    """How much evidence makes a failure, and how well that tells failures apart in the runs it was learnt from."""

    policy: Policy
    runs: int = 0
    f1: float = 0.0


def learn_policy(rules: RuleSet, injected: Sequence[RunInfo], runs: Runs) -> Learned:
    """The least evidence that does as well as the best, up to the error of one deviation.

    Runs with injected faults are none that rules are mined from, so that they can tell. Without failures and harmless
    faults among them there is nothing to learn, and each alarm counts.
    """
    if len({info.is_failure for info in injected}) < 2:
        return Learned(rules.incidents)
    alarms = [(info, watch(rules.rules, info, runs[info.name])) for info in injected]
    tried: list[Scores] = []
    for needed in range(1, MOST_TRIED + 1):
        wanted = replace(rules, incidents=replace(rules.incidents, failure_at=needed))
        tried.append(score([judge_alarms(found, info, wanted) for info, found in alarms], len(rules.rules), (needed,)))
    best = max(tried, key=lambda scores: scores.f1)
    chosen = next(scores for scores in tried if scores.f1 >= best.f1 - _deviation(best))
    return Learned(replace(rules.incidents, failure_at=chosen.failure_at[0]), len(injected), chosen.f1)


def _deviation(scores: Scores) -> float:
    """By how much F1 varies if the number of mistakes does, as events that are rare and independent."""
    hits, mistakes = 2 * scores.true_alarms, scores.missed + scores.false_alarms
    return hits * mistakes**0.5 / (hits + mistakes) ** 2 if hits else 0.0


def score(results: Sequence[Judged], rules: int, failure_at: tuple[int, ...] = (1,)) -> Scores:
    """The figures."""
    injected = [one for one in results if one.info.is_injected]
    failed = [one for one in injected if one.info.is_failure]
    harmless = [one for one in injected if not one.info.is_failure]
    clean = [one for one in results if one.info.is_clean]
    damaged = [one for one in results if one.info.is_failure and not one.info.is_injected]
    silent = [one for one in failed if one.info.is_silent]
    if not results:
        raise NothingToCheckError("E301 no run to evaluate. The directory needs runs.csv and the events of its runs.")
    found = [one for one in failed if one.is_alarmed]
    leads = [lead for one in found if (lead := _lead(one, one.warned_us)) is not None]
    sure = sum(_lead(one, one.failed_us) is not None for one in found)
    return Scores(
        _count_alarmed(failed), len(failed) - _count_alarmed(failed),
        _count_alarmed(harmless), len(harmless) - _count_alarmed(harmless),
        _count_alarmed(silent), len(silent), _count_alarmed(clean), len(clean), len(leads), sure, tuple(leads),
        _count_alarmed(damaged), len(damaged), sum(one.is_premature for one in failed), rules, failure_at,
    )  # fmt: skip


def _count_alarmed(results: Sequence[Judged]) -> int:
    return sum(one.is_alarmed for one in results)


def _lead(one: Judged, moment_us: int | None) -> int | None:
    """By how much the moment came before the first symptom; None if it did not."""
    if moment_us is None or one.info.symptom_us is None or moment_us >= one.info.symptom_us:
        return None
    return one.info.symptom_us - moment_us
