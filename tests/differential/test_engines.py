"""Random small clusters: grouped search on either kernel, search by name, reductions on and off, replay.

A failure shrinks to the smallest cluster that shows it, printed as a `Case`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.steering.priorities import has_priorities
from tests.differential.comparison import REFERENCE_STATES, assert_consistent, compare, limited, search, verdicts_of
from tests.property.aging import aging_cases, long_lived_cases
from tests.property.budget_changes import budget_cases
from tests.property.container_uses import container_cases
from tests.property.families import BASIC_FAMILIES
from tests.property.foreigners import foreign_cases
from tests.property.holdings import holding_cases
from tests.property.jobs import JOB_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.machines import machine_cases
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.promises import promise_cases
from tests.property.rations import ration_cases, shared_ration_cases
from tests.property.reconcilers import gitops_cases
from tests.property.removals import removal_cases
from tests.property.storage import storage_cases
from tests.property.strategies import Case
from tests.property.traffic import ending_cases, traffic_cases
from tests.property.verticals import vertical_cases
from tests.property.waits import waiting_cases

FAMILIES = {
    **BASIC_FAMILIES,
    **LOOP_FAMILIES,
    **OWNER_FAMILIES,
    **JOB_FAMILIES,
    **PRIORITY_FAMILIES,
    **{"holdings": holding_cases, "rations": ration_cases, "storage": storage_cases},
    **{"gitops": gitops_cases, "traffic": traffic_cases, "ending": ending_cases, "machines": machine_cases},
    **{"vertical": vertical_cases, "removal": removal_cases, "budget": budget_cases},
    **{"waiting": waiting_cases, "containers": container_cases, "shared quota": shared_ration_cases},
    "foreign": foreign_cases,
    **{"aging": aging_cases, "long-lived": long_lived_cases, "promise": promise_cases},
}
PER_RUN = {
    **{"spread": 500, "failure": 400, "scale": 300, "write": 350, "direct": 300, "own": 150},
    **{"rollout": 300, "autoscale": 325, "load": 300, "deschedule": 350, "drain": 300},
    **{"holdings": 300, "rations": 300, "storage": 300, "daemon": 200, "preempt": 225, "stateful": 200},
    **{"gitops": 100, "traffic": 60, "ending": 120, "machines": 35, "job": 200, "cron": 80},
    **{"vertical": 45, "removal": 60, "budget": 60, "waiting": 40, "containers": 50, "shared quota": 50, "foreign": 25},
    **{"aging": 30, "long-lived": 10, "promise": 60},
}
LEAST_PER_RUN = 6_000  # setups in all that every run of the tests compares, of every kind of object
SLOW = {family: 5 * count for family, count in PER_RUN.items()}
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
AT_A_TIME = 11  # Hypothesis begins to vary what it has seen after ten examples; here every case is to be a new one


def _run(family: str, cases: int, reference_states: int, first_seed: int = 0) -> None:
    """Compares so many different cases of a family, the same in every run."""
    agreed: set[Case] = set()

    @settings(PATIENT, max_examples=AT_A_TIME)
    @given(FAMILIES[family]())
    def check(case: Case) -> None:
        if case not in agreed and len(agreed) < cases:
            compare(case, reference_states=reference_states)
            agreed.add(case)

    while len(agreed) < cases:
        seed(first_seed)(check)()
        first_seed += 1


def test_a_run_compares_enough_setups() -> None:
    assert PER_RUN.keys() == FAMILIES.keys()
    assert sum(PER_RUN.values()) >= LEAST_PER_RUN


def _drawn(family: str) -> set[str]:
    """The kinds of objects in the first cases of a family."""
    found: set[str] = set()

    @seed(0)
    @settings(PATIENT, max_examples=12, database=None, phases=(Phase.generate,))
    @given(FAMILIES[family]())
    def draw(case: Case) -> None:
        setup = case.setup
        found.update(workload.kind for workload in setup.workloads)
        optional = {
            "HorizontalPodAutoscaler": setup.autoscalers,
            "PodDisruptionBudget": setup.budgets,
            "priorities": has_priorities(setup),
            "ResourceQuota": setup.quotas,
            "PersistentVolumeClaim": setup.claims,
            "Service": setup.services,
            "VerticalPodAutoscaler": setup.verticals,
            "DeschedulerPolicy": setup.descheduler,
            "GitOps": setup.settings.gitops_interval_s,
            "cluster autoscaler": setup.cluster_autoscaler,
        }
        found.update(kind for kind, present in optional.items() if present)

    draw()
    return found


def test_the_setups_have_every_kind_of_object() -> None:
    assert set().union(*(_drawn(family) for family in FAMILIES)) == {
        *("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Pod"),
        *("HorizontalPodAutoscaler", "PodDisruptionBudget", "priorities", "ResourceQuota", "PersistentVolumeClaim"),
        *("Service", "DeschedulerPolicy", "GitOps", "cluster autoscaler", "VerticalPodAutoscaler"),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_all_engines_agree_on_verdicts_states_and_traces(family: str) -> None:
    _run(family, PER_RUN[family], REFERENCE_STATES)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all_engines_agree_on_many_more_and_larger_cases(family: str) -> None:
    _run(family, SLOW[family], 5 * REFERENCE_STATES, first_seed=1_000_000)


@settings(PATIENT, max_examples=150)
@given(st.one_of(*(family() for family in FAMILIES.values())), st.integers(1, 12))
def test_a_search_that_is_cut_off_says_unknown_or_the_truth(case: Case, max_states: int) -> None:
    full = search(case.plan(), max_states=2000)
    plain, fast, by_name = limited(case, max_states)

    assert plain == fast
    if not full.stopped_by:
        assert_consistent(plain, verdicts_of(full))
        assert_consistent(by_name, verdicts_of(full))
