"""Finds the cheapest setting of a cluster that keeps all promises, bears them out, and verifies it."""

from __future__ import annotations

import time
from random import Random

from kubeproof.errors import KubeproofError, NothingToCheckError
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.options import SimulateOptions
from kubeproof.stop import Stop
from kubeproof.tune.clusters import Cluster
from kubeproof.tune.knobs import make_knobs
from kubeproof.tune.racing import Budget, Race, Tell
from kubeproof.tune.ranking import describe, rank, rank_measure, rank_one
from kubeproof.tune.result import Ranked, TuneResult, Verified
from kubeproof.tune.space import Setting
from kubeproof.tune.subject import is_moot
from kubeproof.tune.values import Asked
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.inputs import open_input, write_out
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify_intents

MOST_PASSED = 5  # settings that are not borne out before there is no best one
VERIFYING_S = 30.0
CONFIRMATIONS = 2  # settings for which runs are kept back
BAD = (Verdict.VIOLATED,)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """What a user may choose about tuning a cluster."""

    simulate: SimulateOptions
    asked: tuple[Asked, ...] = ()
    settings: int = 40  # at most
    runs: int = 400  # in all, at most
    verify_s: float = VERIFYING_S  # 0: the best setting is not verified


def tune_cluster(loaded: Loaded, options: TuneOptions, *, stop: Stop | None = None, tell: Tell = None) -> TuneResult:
    """The ranking of the settings that were looked at, and what to change."""
    begin, stop = time.monotonic(), stop or Stop()
    given = open_input(loaded)
    scenario = given.loaded.scenario
    if not scenario.stated and not scenario.levels:
        raise NothingToCheckError(
            "E302 nothing is promised, so that nothing at all is cheapest. Give the Scenario intents or service levels."
        )
    served = [service.target for service in scenario.workload.services] if scenario.workload else []
    cluster = Cluster(given, make_knobs(given.objects, options.asked, served), options.simulate)
    race = Race(
        cluster,
        split_budget(options.settings, options.runs, options.simulate.runs),
        Random(options.simulate.seed),
        stop,
        tell,
    )
    race.run()
    choice = choose(cluster, race, options.verify_s, stop, options.runs - race.runs)
    edits = () if choice.best is None else cluster.edits(choice.best)
    return TuneResult(
        scenario=scenario.name,
        knobs=cluster.space.knobs,
        ranking=rank(race, choice.best),
        refused=tuple((describe(cluster.space, setting), why) for setting, why in race.refused.items()),
        best=None if choice.best is None else rank_one(race, choice.best, choice.best),
        confirmed=choice.confirmed,
        passed_over=choice.passed_over,
        verified=choice.verified,
        written=write_out(given, edits) if edits else None,
        does=tuple(edit.title for edit in edits),
        size=cluster.space.size,
        runs=race.runs + choice.runs,
        duration_s=options.simulate.duration_s,
        seed=options.simulate.seed,
        ended_by=race.ended_by,
        has_prices=scenario.quantify.prices is not None,
        elapsed_s=time.monotonic() - begin,
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The setting that fresh runs and `verify` bear out."""

    best: Setting | None = None
    confirmed: Ranked | None = None
    verified: tuple[Verified, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    runs: int = 0


def split_budget(settings: int, runs: int, of_one: int) -> Budget:
    """That of the race: some runs are left for those of the best settings that are to bear out what it found."""
    return Budget(settings, max(2, runs - min(CONFIRMATIONS * of_one, runs // 2)))


def choose(cluster: Cluster, race: Race, verify_s: float, stop: Stop, most_runs: int) -> Choice:
    """The first of the ranking that keeps its promises in runs that had no part in choosing it, and is not refuted.

    At least one is run again, more as long as there are runs left.
    """
    passed: list[tuple[str, str]] = []
    runs = 0
    for setting in race.ranked()[: MOST_PASSED + 1]:
        if stop.is_asked or (runs and runs + cluster.most_runs > most_runs):
            break
        words = describe(cluster.space, setting)
        again = cluster.run_again(setting, cluster.most_runs)
        runs += again.runs
        broken = [one for one in again.promises if one.verdict != Verdict.SAMPLED_OK and not is_moot(one)]
        if broken:
            passed.append((words, f"in fresh runs {broken[0].title}: {broken[0].detail or broken[0].verdict}"))
            continue
        verified = _verify(cluster.load(setting), verify_s, stop)
        refuted = [one for one in verified if one.verdict in BAD]
        if refuted:
            passed.append((words, f"verify finds a run that violates {refuted[0].title}"))
            continue
        return Choice(setting, rank_measure(cluster.space, setting, again, setting), verified, tuple(passed), runs)
    return Choice(passed_over=tuple(passed), runs=runs)


def _verify(loaded: Loaded, verify_s: float, stop: Stop) -> tuple[Verified, ...]:
    """What `verify` says of the intents; what is not decided in time is UNKNOWN."""
    if not verify_s or not loaded.scenario.intents:
        return ()
    try:
        found = verify_intents(loaded, VerifyOptions(timeout_s=verify_s), stop=stop)
    except KubeproofError as problem:
        return (Verified(f"verify: {problem}", Verdict.UNKNOWN),)
    return tuple(Verified(f"{one.id} {one.intent}", one.verdict) for one in found.results)
