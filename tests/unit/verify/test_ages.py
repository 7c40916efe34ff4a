"""How old pods are, where a rule asks for it: PodLifeTime and minPodAge, the vertical autoscaler's 12 hours."""

from __future__ import annotations

import pytest

from kubeproof.verify.result import IntentResult, VerifyResult
from tests.unit.verify.inputs import node, scenario, verified, web

NODES = node("a"), node("b")
CPU_ONLY = "resourcePolicy: {containerPolicies: [{containerName: '*', controlledResources: [cpu]}]}"
VPA = f"""apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec:
  targetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  updatePolicy: {{updateMode: MODE}}
  {CPU_ONLY}
"""
LIMIT_S, LEAST_S, HALF_A_DAY_S = 700, 3600, 12 * 3600


def policy(plugin: str, arguments: str, evictor: str = "") -> str:
    return f"""apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig:
  - {{name: {plugin}, args: {{{arguments}}}}}
  - {{name: DefaultEvictor, args: {{{evictor}}}}}
  plugins: {{deschedule: {{enabled: [{plugin}]}}}}
"""


LIFE_TIME = policy("PodLifeTime", f"maxPodLifeTimeSeconds: {LIMIT_S}")


def spared(by: str) -> str:
    return f"{{noEviction: {{target: Deployment/shop/web, by: {by}}}}}"


def notes(result: VerifyResult) -> list[str]:
    return [text for key, text in result.scope if key == "abstraction"]


def first_eviction_s(result: VerifyResult | IntentResult) -> int:
    """When the counterexample evicts, counted from the first bind of the run."""
    (found,) = result.results if isinstance(result, VerifyResult) else (result,)
    assert found.trace is not None
    bound_s = min(step.time_s for step in found.trace.steps if step.actor.startswith("scheduler"))
    return found.trace.steps[-1].time_s - bound_s


def test_a_pod_born_in_the_run_lives_as_long_as_pod_life_time_lets_it() -> None:
    """It is not a billion seconds old after the first."""
    found = verified(*NODES, web(2), LIFE_TIME, scenario(spared("descheduler")))

    assert LIMIT_S < first_eviction_s(found) <= LIMIT_S + 1 + 300  # a cycle comes every 5 minutes


def test_pods_of_the_start_are_older_than_any_limit() -> None:
    found = verified(*NODES, web(2), LIFE_TIME, scenario(spared("descheduler"), start="deployed"))

    (result,) = found.results
    assert result.trace is not None
    after = result.trace.steps[result.trace.deployed_steps :]
    assert len([step for step in after if step.actor == "descheduler"]) == 1
    assert after[-1].time_s - after[0].time_s <= 300


def test_life_time_goes_on_for_ever_every_time_after_the_whole_limit() -> None:
    found = verified(*NODES, web(2), LIFE_TIME, scenario("{noEvictionLoop: {target: Deployment/shop/web}}"))

    (result,) = found.results
    assert result.trace is not None
    assert result.trace.loop_start is not None
    loop = result.trace.steps[result.trace.loop_start :]
    assert loop[-1].time_s - loop[0].time_s > LIMIT_S


RESTARTS = ("RemovePodsHavingTooManyRestarts", "podRestartThreshold: 1")
CRASH = "{podCrash: {target: Deployment/shop/web, max: 1}}"


def test_min_pod_age_spares_the_young() -> None:
    cautious = policy(*RESTARTS, evictor="minPodAge: 1h")

    found = verified(*NODES, web(1), cautious, scenario(spared("descheduler"), events=CRASH))

    assert first_eviction_s(found) >= LEAST_S


def test_without_a_least_age_the_young_go_at_once() -> None:
    found = verified(*NODES, web(1), policy(*RESTARTS), scenario(spared("descheduler"), events=CRASH))

    assert first_eviction_s(found) < LEAST_S


def test_ages_are_kept_where_a_rule_asks_and_nowhere_else() -> None:
    others = "labelSelector: {matchLabels: {app: other}}"
    selected = policy("PodLifeTime", f"maxPodLifeTimeSeconds: {LIMIT_S}, {others}")

    found = verified(*NODES, web(2), selected, scenario(spared("descheduler")))

    assert [result.verdict for result in found.results] == ["HOLDS"]
    assert not any("pod ages" in note for note in notes(found))


def test_the_report_tells_what_ages_mean() -> None:
    found = verified(*NODES, web(2), LIFE_TIME, scenario("{settles: {}}"))

    assert any("pod ages count from the moment a pod gets its node" in note for note in notes(found))
    assert not any("counts as old" in note for note in (*found.not_modelled, *notes(found)))


# -- the vertical autoscaler --------------------------------------------------------------------


def use(percent: int) -> str:
    return f"{{cpuChange: {{target: Deployment/shop/web, levels: ['{percent}%']}}}}"


def test_a_pod_within_the_bounds_and_ten_percent_off_is_replaced_after_twelve_hours() -> None:
    """It requests 1 CPU, and 690m are recommended: within the bounds of a day's history, 31 % off."""
    found = verified(*NODES, web(2), VPA.replace("MODE", "Recreate"), scenario(spared("vpa"), events=use(60)))

    assert [result.verdict for result in found.results] == ["VIOLATED"]
    assert HALF_A_DAY_S <= first_eviction_s(found) <= HALF_A_DAY_S + 60


@pytest.mark.parametrize(
    ("percent", "mode", "verdict"),
    [(84, "Recreate", "HOLDS"), (60, "Initial", "HOLDS"), (60, "Recreate", "VIOLATED"), (30, "Recreate", "VIOLATED")],
)
def test_only_pods_that_are_ten_percent_off_go(percent: int, mode: str, verdict: str) -> None:
    found = verified(*NODES, web(2), VPA.replace("MODE", mode), scenario(spared("vpa"), events=use(percent)))

    assert [result.verdict for result in found.results] == [verdict]


def test_a_pod_outside_of_the_bounds_does_not_wait() -> None:
    found = verified(*NODES, web(2), VPA.replace("MODE", "Recreate"), scenario(spared("vpa"), events=use(30)))

    assert first_eviction_s(found) < HALF_A_DAY_S


def test_that_nothing_runs_out_of_memory_is_told_with_every_vertical_autoscaler() -> None:
    found = verified(*NODES, web(2), VPA.replace("MODE", "Recreate"), scenario("{settles: {}}"))

    assert any("run out of memory" in one and "shop/web" in one for one in found.not_modelled)
