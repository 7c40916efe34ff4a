"""Finds repairs: what is violated, the edits that are proved to mend it, and what was tried in vain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.fix.choice import Limits, list_edits
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.fix.inputs import Input, is_untouchable, load_change, open_input, write_out
from kubeproof.verify.fix.judging import GUARD, Judge, MatrixJudge, ScenarioJudge, guards_of
from kubeproof.verify.fix.judging import Effort as Asked
from kubeproof.verify.fix.outcomes import Key, Level, Outcome, Outcomes
from kubeproof.verify.fix.result import Effort, FixResult, Proposal, Tried
from kubeproof.verify.fix.search import FIRST_STATES, MOST_EDITS, Clock, Counts, Found, Search
from kubeproof.verify.matrix import asks_for_matrix
from kubeproof.verify.options import VerifyOptions

if TYPE_CHECKING:
    from kubeproof.verify.fix.kept import Record

BUDGET_S = 60.0
LOOKING_SHARE = 0.35  # of the budget, for what is violated to begin with
TOGETHER_SHARE = 0.6  # of the time, for a repair of all that is violated before one after the other is mended
STATES = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FixOptions:
    """What a user may choose about a search for repairs."""

    verify: VerifyOptions = VerifyOptions()
    budget_s: float = BUDGET_S
    limits: Limits = Limits()
    faults: tuple[str, ...] = ()  # of the matrix
    wanted: int = 3  # proposals
    max_candidates: int | None = None  # that are looked at in all, whatever time there is


def find_repairs(
    loaded: Loaded,
    options: FixOptions = FixOptions(),
    *,
    stop: Stop | None = None,
    clock: Clock = time.monotonic,
    record: Record | None = None,
) -> FixResult:
    """The cheapest changes of the input that are proved to mend all that is violated and to spoil nothing.

    Without a Scenario workloads are mended one after the other, and what is not mended in time is told. What a record
    has of an earlier search is not verified again.
    """
    begun_s, stop = clock(), stop or Stop()
    given = open_input(loaded)
    is_matrix = asks_for_matrix(given.loaded, options.verify)
    judge: Judge = (
        MatrixJudge(options.verify, options.faults, stop)
        if is_matrix
        else ScenarioJudge(options.verify, guards_of(given.loaded), stop)
    )
    if record is not None:
        from kubeproof.verify.fix.kept import KeptJudge

        judge = KeptJudge(judge, record)
    before = judge.ask_all(given.loaded, Asked(STATES, LOOKING_SHARE * options.budget_s))
    goals = [key for key, outcome in before.items() if outcome.level == Level.BAD and not key[0].startswith(GUARD)]
    deadline_s = begun_s + options.budget_s
    hunt = _Hunt(given, judge, before, options, stop, deadline_s, clock)
    groups = [[key] for key in goals] if is_matrix else [goals]
    found = hunt.mend(groups) if goals else []
    mended = {key for one in found[:1] for key in goals if one.outcomes[key].level <= judge.enough}
    return FixResult(
        scenario=given.loaded.scenario.name if not is_matrix else "survival matrix",
        violated=tuple(before[key].result for key in goals),
        proposals=tuple(hunt.propose(one, goals) for one in found),
        unrepaired=tuple(before[key].result for key in goals if key not in mended),
        undecided=tuple(
            outcome.result
            for key, outcome in before.items()
            if outcome.level == Level.OPEN and not key[0].startswith(GUARD)
        ),
        tried=tuple(_list_tried(hunt.failures, {before[key].result.target for key in goals})),
        effort=hunt.effort(clock() - begun_s),
        ended_by=hunt.ended_by,
        is_matrix=is_matrix,
    )


class _Hunt:
    """The searches of one input, one after the other."""

    def __init__(
        self,
        given: Input,
        judge: Judge,
        before: Outcomes,
        options: FixOptions,
        stop: Stop,
        deadline_s: float,
        clock: Clock,
    ) -> None:
        self._given, self._judge, self._before, self._options = given, judge, before, options
        self._stop, self._deadline_s, self._clock = stop, deadline_s, clock
        self._counts = Counts()
        self.failures: dict[str, list[tuple[str, str]]] = {}
        self.ended_by = ""
        found = list_edits(given.objects, options.limits)
        self._edits = [edit for edit in found if not any(is_untouchable(one) for one, _ in edit.changes)]

    def mend(self, groups: Sequence[Sequence[Key]]) -> list[Found]:
        """Repairs of all groups, at once where few edits may do, or each on top of the one before.

        Alternatives only where there is one group. Together goals are cheaper: all that held is proved once.
        """
        together = self._mend_together([key for goals in groups for key in goals]) if len(groups) > 1 else []
        if together:
            return together
        done: list[Found] = []
        base: tuple[Edit, ...] = ()
        before, alternatives = dict(self._before), self._options.wanted if len(groups) == 1 else 1
        for number, goals in enumerate(groups):
            left_s = self._deadline_s - self._clock()
            share_s = left_s / (len(groups) - number)
            if base and self._is_mended(base, goals, before, share_s):
                continue
            until_s = self._deadline_s - left_s + share_s
            found = self._search(before, tuple(goals), base, until_s, alternatives, self._options.max_candidates)
            if found:
                before, base, done = {**before, **found[0].outcomes}, found[0].edits, found
        return [replace(one, outcomes={**before, **one.outcomes}) for one in done]

    def _mend_together(self, goals: Sequence[Key]) -> list[Found]:
        """One repair of all goals, if an edit for each workload that is hit is not too many."""
        if len({key[0] for key in goals}) > MOST_EDITS:
            return []
        now_s = self._clock()
        most = self._options.max_candidates
        found = self._search(
            self._before, tuple(goals), (), now_s + TOGETHER_SHARE * (self._deadline_s - now_s), 1,
            None if most is None else self._counts.candidates + most // 2,
        )  # fmt: skip
        if not found:
            self.ended_by = ""  # there is another way to go
        return [replace(one, outcomes={**self._before, **one.outcomes}) for one in found]

    def _is_mended(
        self, base: tuple[Edit, ...], goals: Sequence[Key], before: dict[Key, Outcome], share_s: float
    ) -> bool:
        """True if what was done for others does for these, too; it is then noted."""
        loaded = load_change(self._given, base)
        outcomes = self._judge.ask(loaded, goals, Asked(FIRST_STATES, max(0.1, share_s / 4)))
        is_mended = all(key in outcomes and outcomes[key].level <= self._judge.enough for key in goals)
        if is_mended:
            before.update(outcomes)
        return is_mended

    def _search(
        self,
        before: Outcomes,
        goals: tuple[Key, ...],
        base: tuple[Edit, ...],
        until_s: float,
        wanted: int,
        max_candidates: int | None,
    ) -> list[Found]:
        search = Search(
            self._given, self._judge, before, goals, self._edits, base, until_s, self._stop, self._counts, wanted,
            max_candidates, self._clock,
        )  # fmt: skip
        found = search.run()
        if not found:
            self.failures |= search.failures
        self.ended_by = self.ended_by or ("" if found else search.ended_by)
        return found[:wanted]

    def propose(self, found: Found, goals: Sequence[Key]) -> Proposal:
        """The repair as files, patches and what it rests on."""
        name, written = self._judge.describe, write_out(self._given, found.edits)
        kept = [key for key, outcome in self._before.items() if key not in goals and outcome.level < Level.OPEN]
        return Proposal(
            edits=found.edits,
            files=written.files,
            patch_only=written.patch_only,
            patch=written.patch,
            repairs=tuple(name(key) for key in goals if found.outcomes[key].level <= self._judge.enough),
            keeps=tuple(name(key) for key in kept),
            open=tuple(name(key) for key, one in self._before.items() if one.level == Level.OPEN),
        )

    def effort(self, elapsed_s: float) -> Effort:
        """What all searches took."""
        counts = self._counts
        return Effort(counts.candidates, counts.refused, counts.replayed, counts.verified, counts.full, elapsed_s)


def _list_tried(failures: dict[str, list[tuple[str, str]]], targets: set[str]) -> list[Tried]:
    """The farthest edit of each kind, one of what is violated if there is any."""
    tried = []
    for kind, found in sorted(failures.items()):
        near = [one for one in found if one[0].partition(":")[0] in targets]
        tried.append(Tried(kind, len(found), *(near or found)[-1]))
    return tried
