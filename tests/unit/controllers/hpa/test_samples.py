from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.controllers.hpa.samples import (
    IGNORED,
    MISSING,
    READY,
    UNREADY,
    PodFacts,
    Sample,
    group,
    pod_request,
    state_of,
)
from kubeproof.controllers.hpa.settings import AutoscalerSettings

OLD = PodFacts(3, age_s=1000, ready_changed_s=990, sample_age_s=10)
YOUNG = PodFacts(3, age_s=100, ready_changed_s=90, sample_age_s=10)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        pytest.param(OLD, READY, id="ready"),
        pytest.param(OLD._replace(is_deleted=True, is_pending=True), IGNORED, id="terminating, whatever else"),
        pytest.param(OLD._replace(is_failed=True), IGNORED, id="failed"),
        pytest.param(OLD._replace(is_pending=True, has_metric=False), UNREADY, id="pending before missing"),
        pytest.param(OLD._replace(has_metric=False), MISSING, id="no metric (also a succeeded pod)"),
    ],
)
@pytest.mark.parametrize("is_cpu", [True, False])
def test_phase_and_metric_decide_first_for_every_resource(facts: PodFacts, state: str, is_cpu: bool) -> None:
    assert state_of(facts, is_cpu=is_cpu) == state


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        pytest.param(OLD._replace(is_ready=None), UNREADY, id="no Ready condition"),
        pytest.param(OLD._replace(age_s=None), UNREADY, id="no start time"),
        pytest.param(YOUNG, READY, id="initialising, ready, sample after a whole window"),
        pytest.param(YOUNG._replace(is_ready=False), UNREADY, id="initialising, not ready"),
        pytest.param(YOUNG._replace(ready_changed_s=24), UNREADY, id="sample 14 s after turning ready"),
        pytest.param(YOUNG._replace(ready_changed_s=25), READY, id="sample 15 s after turning ready"),
        pytest.param(YOUNG._replace(age_s=299, is_ready=False), UNREADY, id="299 s old is initialising"),
        pytest.param(YOUNG._replace(age_s=300, is_ready=False), READY, id="300 s old and was ready before"),
        pytest.param(
            OLD._replace(is_ready=False, ready_changed_s=971), UNREADY, id="never ready: changed 29 s after start"
        ),
        pytest.param(OLD._replace(is_ready=False, ready_changed_s=970), READY, id="not ready since 30 s after start"),
    ],
)
def test_cpu_distrusts_pods_that_start(facts: PodFacts, state: str) -> None:
    assert state_of(facts, is_cpu=True) == state


def test_other_resources_count_running_pods_that_are_not_ready() -> None:
    facts = PodFacts(2, is_ready=False, age_s=1, ready_changed_s=1, sample_age_s=1)

    assert group(facts, 70, 100, resource="memory") == Sample(2, 70, 100, READY)
    assert group(facts, 70, 100, resource="cpu") == Sample(2, None, 100, UNREADY)


def test_flags_change_the_periods() -> None:
    settings = AutoscalerSettings(cpu_initialization_s=60, readiness_delay_s=5, sample_window_s=60)

    assert state_of(YOUNG._replace(is_ready=False), is_cpu=True, settings=settings) == READY
    assert state_of(YOUNG._replace(is_ready=False, ready_changed_s=96), is_cpu=True, settings=settings) == UNREADY
    assert state_of(YOUNG._replace(age_s=59, ready_changed_s=50), is_cpu=True, settings=settings) == UNREADY


TEMPLATE = PodTemplate(
    containers=(Container("web", 100, 1, (("gpu", 1),)), Container("log", 50)),
    init_containers=(Container("setup", 900), Container("mesh", 25, restartable_init=True)),
    overhead=(("cpu", 10),),
)


def test_request_is_the_sum_over_containers_and_sidecars() -> None:
    assert pod_request(TEMPLATE, "cpu") == 175
    assert pod_request(TEMPLATE, "cpu", version=(1, 28)) == 150


def test_request_is_none_if_any_container_omits_it() -> None:
    assert pod_request(TEMPLATE, "memory") is None
    assert pod_request(TEMPLATE, "gpu") is None


def test_container_resource_asks_one_container_only() -> None:
    assert pod_request(TEMPLATE, "memory", "web") == 1000
    assert pod_request(TEMPLATE, "gpu", "web") == 1000
    assert pod_request(TEMPLATE, "cpu", "mesh") == 25
    assert pod_request(TEMPLATE, "cpu", "setup") is None


def test_container_that_a_pod_lacks_has_a_request_of_zero_before_1_35_and_is_an_error_since() -> None:
    assert pod_request(TEMPLATE, "cpu", "gone", version=(1, 34)) == 0
    assert pod_request(TEMPLATE, "cpu", "gone", version=(1, 35)) is None
