"""Learns rules from fault-free traces, without knowing what the events mean.

Three kinds: pairs and chains (equally often, the i-th before the i-th), answers (a is always soon followed by b, and b
is not there all the time anyway), and limits (the highest count of a run). The time allowed is the longest delay seen
times a margin, and limits tolerate the same share. The margin is the smallest whose false alarms, in cross-validation
on the fault-free traces, stay below the bound. Rules that raise several of these are left out, and so are rules that
follow from others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from kubeproof.errors import NothingToCheckError
from kubeproof.monitor.event import SECOND_US
from kubeproof.monitor.mining.observations import Coverage, Observed, Pair, observe_answers, observe_pairs
from kubeproof.monitor.mining.pruning import chain, spanner
from kubeproof.monitor.mining.traces import Trace
from kubeproof.monitor.mining.validation import Window, breaking_traces, late_traces, most_events, window_of
from kubeproof.monitor.rules.rules import AtMost, Chain, Evidence, FollowedBy, Matching, Pattern, Rule, RuleSet
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class MineOptions:
    """How rules are learned."""

    folds: int = 5
    false_alarms: float = 0.025  # share of fault-free runs; with 95 % confidence, in cross-validation
    margins: tuple[float, ...] = (1.4, 1.5, 1.75, 2.0, 2.5, 3.0)  # less is soon broken by runs that nobody has seen
    slack_us: int = SECOND_US
    support: float = 0.05  # share of runs in which the first event must occur
    reached: float = 0.01  # share of runs that must reach the highest count; a lonely record is soon broken
    chance: float = 0.25  # an answer that comes anyway in this share of all moments is none
    longest_link_us: int = 120 * SECOND_US  # of a chain; slower pairs are rules of their own
    tolerated: int = 1  # left-out runs on which a rule may raise a false alarm


@dataclass(frozen=True, slots=True)
class Mined:
    """What was learned, and how well it held on runs that were left out."""

    rules: RuleSet
    runs: int
    events: int
    margin: float
    false_alarms: int  # left-out runs with an alarm
    late: int  # those of them that a longer time would have avoided
    unstable: int  # rules left out because of them
    redundant: int  # rules left out because others imply them
    judged: int = 0  # runs with injected faults that told how much evidence makes a failure
    f1: float = 0.0  # on these runs


def mine(traces: Sequence[Trace], options: MineOptions = MineOptions(), name: str = "mined") -> Mined:
    """The rules that fault-free traces obey; the same for the same traces."""
    if not traces:
        raise NothingToCheckError(
            "E301 no fault-free run to learn from. Name a directory of runs, or files with events."
        )
    return _Miner(traces, options).mine(name)


class _Miner:
    """Observations of one set of traces, and what follows from them."""

    def __init__(self, traces: Sequence[Trace], options: MineOptions) -> None:
        self._traces, self._options = traces, options
        self._folds = max(1, min(options.folds, len(traces)))
        self._least_runs = max(1, ceil(options.support * len(traces)))
        self._least_reached = max(min(2, len(traces)), ceil(options.reached * len(traces)))
        self._coverage = Coverage(traces)
        self._pairs = self._filter_supported(observe_pairs(traces, self._folds))
        answers = observe_answers(traces, self._folds, self._bounds())
        self._answers = self._filter_supported({pair: one for pair, one in answers.items() if pair not in self._pairs})
        self._counts = self._count()

    def _filter_supported(self, found: dict[Pair, Observed]) -> dict[Pair, Observed]:
        return {pair: one for pair, one in found.items() if len(one.longest) >= self._least_runs}

    def _bounds(self) -> dict[str, int]:
        """For each event the longest window in which it would still be a surprise."""
        return {
            name: self._find_bound(name) for name in sorted({name for trace in self._traces for name in trace.times})
        }

    def _find_bound(self, name: str) -> int:
        low, high = 0, max(1, max(trace.end_us - trace.start_us for trace in self._traces))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._is_surprise(name, middle) else (low, middle - 1)
        return low

    def _is_surprise(self, name: str, window_us: int) -> bool:
        return self._coverage.of(name, window_us) <= self._options.chance

    def _count(self) -> dict[str, dict[int, int]]:
        counts: dict[str, dict[int, int]] = {}
        for number, trace in enumerate(self._traces):
            for name, times in trace.times.items():
                counts.setdefault(name, {})[number] = len(times)
        return counts

    def mine(self, name: str) -> Mined:
        """Everything, with the smallest margin that is good enough."""
        for margin in self._options.margins:
            found = self._with_margin(margin, name)
            if most_events(found.late) <= self._options.false_alarms * len(self._traces):
                break  # what is out of order or missing altogether no margin can help
        return found

    def _with_margin(self, margin: float, name: str) -> Mined:
        window = window_of(margin, self._options.slack_us)
        pairs, pair_alarms, pair_drops = self._stable(self._pairs, window)
        believable = {pair: one for pair, one in self._answers.items() if self._is_believable(pair, one, window)}
        answers, answer_alarms, answer_drops = self._stable(believable, window)
        kept_pairs = spanner(pairs)
        kept_answers = spanner(answers, [(pair, pairs[pair]) for pair in kept_pairs])
        limits, limit_drops = self._limits({name for pair in kept_pairs for name in pair}, margin)
        rules = [*self._chains(kept_pairs, pairs), *self._answer_rules(kept_answers, answers), *limits]
        return Mined(
            RuleSet(tuple(rules), name),
            len(self._traces),
            sum(trace.size for trace in self._traces),
            margin,
            len(pair_alarms | answer_alarms | self._find_broken({**self._pairs, **believable})),
            len(pair_alarms | answer_alarms),
            pair_drops + answer_drops + limit_drops,
            len(pairs) + len(answers) - len(kept_pairs) - len(kept_answers),
        )

    def _find_broken(self, found: dict[Pair, Observed]) -> set[int]:
        return {trace for one in found.values() for trace in breaking_traces(one, self._folds)}

    def _is_believable(self, pair: Pair, one: Observed, window: Window) -> bool:
        return self._is_surprise(pair[1], window(max(one.longest.values())))

    def _stable(self, found: dict[Pair, Observed], window: Window) -> tuple[dict[Pair, int], set[int], int]:
        """Windows of the rules to keep, the left-out traces they raise false alarms on, and how many were dropped."""
        kept: dict[Pair, int] = {}
        alarmed: set[int] = set()
        dropped = 0
        for pair, one in found.items():
            traces = late_traces(one, self._folds, window) if one.holds else []
            if len(traces) > self._options.tolerated:
                dropped += 1
            elif one.holds:
                alarmed.update(traces)
                kept[pair] = window(max(one.longest.values()))
        return kept, alarmed, dropped

    def _chains(self, pairs: list[Pair], windows: dict[Pair, int]) -> list[Rule]:
        rules = []
        for path in chain(pairs, windows, self._options.longest_link_us):
            links = list(pairwise(path))
            evidence = tuple(self._evidence(link, counted=True) for link in links)
            within = tuple(windows[link] for link in links)
            events = tuple(Pattern(name) for name in path)
            if len(path) == 2:
                body: FollowedBy | Chain = FollowedBy(events[0], events[1], within[0])
                rules.append(Rule(f"{path[1]} after {path[0]}", body, evidence=evidence))
            else:
                rules.append(Rule(f"chain from {path[0]} to {path[-1]}", Chain(events, within), evidence=evidence))
        return rules

    def _answer_rules(self, answers: list[Pair], windows: dict[Pair, int]) -> list[Rule]:
        return [
            Rule(
                f"{then} soon after {first}",
                FollowedBy(Pattern(first), Pattern(then), windows[first, then], Matching.ANY),
                evidence=(self._evidence((first, then), counted=False),),
            )
            for first, then in answers
        ]

    def _limits(self, counted: set[str], margin: float) -> tuple[list[Rule], int]:
        """The highest counts that several runs reach; where events are paired, one too many breaks the pair."""
        rules, dropped = [], 0
        for name, counts in sorted(self._counts.items()):
            if name in counted or len(counts) < self._least_runs:
                continue
            highest = max(counts.values())
            if sum(count == highest for count in counts.values()) < self._least_reached:
                dropped += 1
                continue
            evidence = Evidence(len(counts), sum(counts.values()))
            limit = AtMost(Pattern(name), highest, None, ceil(highest * (margin - 1)))
            rules.append(Rule(f"at most {highest} {name}", limit, evidence=(evidence,)))
        return rules, dropped

    def _evidence(self, pair: Pair, *, counted: bool) -> Evidence:
        """How often the pair was seen, and after which delays."""
        delays: list[int] = []
        runs = 0
        for trace in self._traces:
            found = _delays(trace, *pair, counted=counted)
            runs += bool(found)
            delays += found
        delays.sort()
        last = len(delays) - 1
        return Evidence(runs, len(delays), delays[0], delays[last // 2], delays[ceil(last * 0.99)], delays[last])


def _delays(trace: Trace, first: str, then: str, *, counted: bool) -> list[int]:
    ones, others = trace.times.get(first, ()), trace.times.get(then, ())
    if counted:
        return [other - one for one, other in zip(ones, others, strict=True)]
    found, place = [], 0
    for one in ones:
        while others[place] <= one:
            place += 1
        found.append(others[place] - one)
    return found
