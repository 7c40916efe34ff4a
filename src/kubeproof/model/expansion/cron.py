"""CronJobs with every Job that may be there at the same time as a workload of its own.

The Jobs of a CronJob are no equals while they run: each counts its own pods. A finished one holds nothing, so its
place is taken by the next. The CronJob itself stays in its place, without pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import JOB
from kubeproof.cluster.loops.footprint import Footprint, Scope, Writes, footprint_of
from kubeproof.cluster.objects import FORBID, REPLACE, Setup, Workload
from kubeproof.events.declarations import Event

RUN_S = (0, 600)  # how long pods of Jobs run unless an event says so, least and most
LEAST_PLACES = 3  # Jobs of one CronJob at once; a start beyond what there is ends the search without an answer
MOST_PLACES = 6  # while nobody says how long they run
MANY = 10_000  # Jobs at once: more than any cluster here has room for
REPLACED_S = 900  # until a pod that is lost is missed, evicted, and run again after a back-off
MOST_PLACES_TOLD = 16  # where an event says so, and they need that many


def with_cron_jobs(setup: Setup, events: tuple[Event, ...]) -> Setup:
    """The setup with the Jobs that its CronJobs may have at once, after all other workloads."""
    added: list[Workload] = []
    for declared in setup.workloads:
        if declared.rules.starts_jobs:
            added += _jobs(declared, jobs_at_once(setup, declared, events))
    return replace(setup, workloads=(*setup.workloads, *added)) if added else setup


def _jobs(declared: Workload, places: int) -> Iterator[Workload]:
    for number in range(1, 1 + places):
        name = f"{declared.name}-{number}"
        template = label_job_pods(declared.template, name)
        yield replace(declared, kind=JOB, name=name, template=template, owner=declared.ref, ordinal=number)


def jobs_at_once(setup: Setup, declared: Workload, events: tuple[Event, ...]) -> int:
    """How many Jobs of a CronJob may be there at once: as many as a schedule starts while one runs, and some to spare.

    If the Scenario says how many, so many.
    """
    rules = declared.cron
    if rules is None or not rules.gaps_s or rules.suspended:
        return 0
    if setup.settings.max_cron_jobs is not None:
        return setup.settings.max_cron_jobs
    if rules.policy in (FORBID, REPLACE):
        return LEAST_PLACES  # one that runs, and earlier ones whose pods still end
    told = _find_start_time(declared, events)
    most, (_, longest_s) = (MOST_PLACES, RUN_S) if told is None else (MOST_PLACES_TOLD, told)
    return max(LEAST_PLACES, min(most, 2 + longest_s // rules.gaps_s[0]))


def bound_jobs(setup: Setup, declared: Workload, events: tuple[Event, ...]) -> int:
    """How many Jobs of a CronJob are there at once at most, as long as their pods find room; MANY if nobody knows.

    Not how many are followed. With `Allow` a schedule goes on while Jobs run, and each time that an event takes pods
    away they begin anew, after they are missed and replaced.
    """
    rules = declared.cron
    if rules is None or rules.policy in (FORBID, REPLACE) or not rules.gaps_s or rules.suspended:
        return jobs_at_once(setup, declared, events)
    taking = [event.max for event in events if _ends_pods(footprint_of(event))]
    times = [most for most in taking if most is not None]
    if len(times) < len(taking):
        return MANY
    _, longest_s = run_time(declared, events)
    lasting_s = longest_s + sum(times) * (longest_s + REPLACED_S)
    return min(MANY, max(LEAST_PLACES, 2 + lasting_s // rules.gaps_s[0]))


def _ends_pods(told: Footprint) -> bool:
    return told.takes_pods_of is not Scope.NOWHERE or bool(told.writes & Writes.CRASHES)


def run_time(declared: Workload, events: tuple[Event, ...]) -> tuple[int, int]:
    """Least and most seconds that pods of a Job or of a CronJob's Jobs run."""
    return _find_start_time(declared, events) or RUN_S


def _find_start_time(declared: Workload, events: tuple[Event, ...]) -> tuple[int, int] | None:
    told = (event.run_s for event in events if event.subject in (declared.ref, declared.owner))
    return next((run_s for run_s in told if run_s is not None), None)


def run_times(setup: Setup, events: tuple[Event, ...]) -> tuple[tuple[int, int] | None, ...]:
    """Per workload how long its pods run, None if they do not end by themselves."""
    return tuple(run_time(w, events) if w.rules.counts_completions else None for w in setup.workloads)
