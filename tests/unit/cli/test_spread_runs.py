"""Many runs in several processes: the same as one after the other, and so are their errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.cli.running.spread_runs import pool_of
from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate import spreading
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.spreading import Runs, RunTask, records_of
from tests.unit.manifests.inputs import deployment, node, scenario
from tests.unit.simulate.inputs import AUTOSCALER, REQUESTS, WEB, cluster

EVENTS = f"events: [{{podCrash: {{target: {WEB}, max: 5, ratePerHour: 60}}}}]"
INTENTS = f"intents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]"
TRAFFIC = f"workload: {{services: [{{target: {WEB}, cpuPerRequest: 20m, arrivals: {{poisson: {{rate: 20}}}}}}]}}"
SPEC = f"start: deployed\n{EVENTS}\n{INTENTS}\n{TRAFFIC}"
OPTIONS = SimulateOptions(duration_s=120, seed=3, runs=7)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the runs are, they are spread."""
    monkeypatch.setattr(spreading, "PAYS_S", 0.0)


class Failing(Runs):
    """Fails in one of the runs, like any of them might."""

    def __reduce__(self) -> tuple[object, ...]:
        return Failing, (self._loaded, self._options)

    def __call__(self, task: RunTask, progress: object = None) -> RunRecord:
        if task.number == 3:
            raise UsageError("no", "Try another.")
        return super().__call__(task)


class Dying(Failing):
    """Ends the process of one of the runs."""

    def __reduce__(self) -> tuple[object, ...]:
        return Dying, (self._loaded, self._options)

    def __call__(self, task: RunTask, progress: object = None) -> RunRecord:
        if task.number == 1:
            os._exit(9)
        return Runs.__call__(self, task)


@pytest.fixture
def loaded() -> Loaded:
    return cluster(SPEC)


def test_runs_of_a_pool_are_those_that_are_made_here_in_their_order(loaded: Loaded, always: None) -> None:
    ended: list[int] = []
    runs = Runs(loaded, OPTIONS)
    here = list(records_of(Runs(loaded, OPTIONS), OPTIONS.runs, None, None))

    assert list(records_of(runs, OPTIONS.runs, None, pool_of(2, ended.append))) == here
    assert len({record.timeline for record in here}) > 1  # they differ, so that their order shows
    assert ended[-1] == OPTIONS.runs - 1


def test_few_short_runs_are_made_here(loaded: Loaded) -> None:
    spread_to: list[RunTask] = []
    seen: list[int] = []

    records = records_of(
        Runs(loaded, OPTIONS), 3, lambda run, _: seen.append(run), lambda _, tasks: spread_to.extend(tasks) or []
    )

    assert len(list(records)) == 3
    assert not spread_to
    assert set(seen) == {0, 1, 2}


def test_an_error_of_a_run_is_the_same_from_a_pool(loaded: Loaded, always: None) -> None:
    with pytest.raises(UsageError, match=r"no\. Try another"):
        list(records_of(Failing(loaded, OPTIONS), OPTIONS.runs, None, pool_of(2, None)))


def test_a_process_that_dies_is_told(loaded: Loaded, always: None) -> None:
    with pytest.raises(EnvironmentProblem, match="E703 run 2: the process that worked on it died"):
        list(records_of(Dying(loaded, OPTIONS), OPTIONS.runs, None, pool_of(2, None)))


def test_one_worker_is_this_process() -> None:
    assert pool_of(1, None) is None


def test_a_result_is_the_same_with_any_number_of_workers(always: None, tmp_path: Path) -> None:
    web = deployment("web", spec="replicas: 2,", container=REQUESTS)
    (tmp_path / "shop.yaml").write_text("\n---\n".join((node("n1"), node("n2"), web, AUTOSCALER, scenario(SPEC))))
    command = ["simulate", str(tmp_path / "shop.yaml"), "--duration", "60s", "--runs", "4"]
    codes = [
        main([*command, "--workers", str(workers), "-o", f"json={tmp_path / f'{workers}.json'}"]) for workers in (1, 2)
    ]

    assert codes[0] == codes[1]
    assert (tmp_path / "1.json").read_text() == (tmp_path / "2.json").read_text()


def test_workers_of_an_experiment_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-1", "--workers", "2"]) == 2

    assert "--workers is about manifests" in capsys.readouterr().err
