"""The same outcomes from a Dask cluster as from this process, also when its workers die."""

import math
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kubeproof.cluster.scale import Limit
from kubeproof.errors import EnvironmentProblem
from kubeproof.manifests.load import load
from kubeproof.report.formats.json import render
from kubeproof.verify.executors import dask_cluster
from kubeproof.verify.executors.dask_cluster import Dask
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.pool import Pool
from kubeproof.verify.executors.run import run_tasks
from kubeproof.verify.executors.task import TaskResult
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.scaling import sweep
from kubeproof.verify.scaling.plan import SweepOptions, plan_sweep
from tests.unit.verify.executors.work import PATIENCE_S, handle, numbers, tries, verify_size_dying_once

ROOT = Path(__file__).parents[4]


def on(address):
    """The cluster; workers that were killed may take a while to come back on a machine that has other work."""
    return Dask(address, connect_s=PATIENCE_S)


def test_without_the_extra_the_error_tells_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(EnvironmentProblem) as refused:
        list(run_tasks(handle, numbers(1), executor=Dask("tcp://127.0.0.1:1")))

    assert str(refused.value) == (
        'E401 --executor dask:// needs Dask. Install it with: pip install "kubeproof[distributed]"'
    )
    assert refused.value.exit_code == 6


class Ended:
    """A future that has ended, as a client shows it."""

    def __init__(self, key, status):
        self.key, self.status = key, status

    def add_done_callback(self, tell):
        tell(self)

    def result(self):
        return pickle.dumps(("answer", None))


class Client:
    """A client of a cluster whose futures have these states, one after the other."""

    status = "running"

    def __init__(self, *states):
        self._states, self.keys = list(states), []

    def submit(self, work, *arguments, key, **_):
        if work is bytes:
            return Ended(key, "finished")
        self.keys.append(key)
        return Ended(key, self._states.pop(0))

    def gather(self, futures):
        raise OSError("the worker is gone")

    def nthreads(self):
        return {"worker": 1}

    def cancel(self, futures, force):
        pass

    def close(self):
        pass


@pytest.mark.parametrize("state", ["lost", "pending"])
def test_an_answer_that_died_with_its_worker_is_asked_for_again(state):
    client = Client(state, "finished")
    session = dask_cluster.DaskSession(client, handle, "tcp://127.0.0.1:1")
    session.submit(0, numbers(1)[0])

    assert session.next(lambda: math.inf) == (0, ("answer", None))
    assert len(set(client.keys)) == 2


def test_a_lost_connection_is_told():
    client = Client("cancelled")
    session = dask_cluster.DaskSession(client, handle, "tcp://127.0.0.1:1")
    session.submit(0, numbers(1)[0])

    with pytest.raises(EnvironmentProblem, match=r"the connection to .* is lost"):
        session.next(lambda: math.inf)


def test_without_time_nothing_is_waited_for():
    session = dask_cluster.DaskSession(Client("pending"), handle, "tcp://127.0.0.1:1")

    assert session.next(lambda: 0.0) is None


@pytest.fixture(scope="module")
def address():
    """A cluster on loopback, as a user starts one: a scheduler and two workers with nannies."""
    pytest.importorskip("distributed", reason='needs pip install "kubeproof[distributed]"')
    cluster = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("loopback_cluster.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )
    with cluster:
        yield cluster.stdout.readline().strip()
        cluster.stdin.close()  # it ends with its input
        cluster.wait(PATIENCE_S)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A cluster counts as deserted only when its workers have had time to come back, whatever else is running."""
    monkeypatch.setattr(dask_cluster, "DESERTED_S", PATIENCE_S)


def test_a_cluster_gives_the_outcomes_of_this_process(address):
    tasks = numbers(40, n3="refuses", n4="fails", n5="runs out of memory", n6="leaves")

    assert list(run_tasks(handle, tasks, executor=on(address))) == list(run_tasks(handle, tasks, executor=InProcess()))


def test_the_first_outcome_that_stops_is_the_last(address):
    outcomes = list(run_tasks(handle, numbers(60), executor=on(address), stop=lambda o: (o.value or 0) >= 49))

    assert outcomes == [TaskResult(f"number {n}", n * n) for n in range(8)]


def test_a_worker_killed_in_the_middle_loses_nothing(address, tmp_path):
    tasks = numbers(12, tmp_path, n5="dies once")

    outcomes = list(run_tasks(handle, tasks, executor=on(address)))

    assert outcomes == [TaskResult(f"number {n}", n * n) for n in range(12)]
    assert tries(tasks[5]) == 2


def test_a_task_that_kills_every_worker_is_an_error_and_the_rest_goes_on(address, tmp_path):
    tasks = numbers(6, tmp_path, n1="dies")

    outcomes = list(run_tasks(handle, tasks, executor=on(address)))

    assert [o.key for o in outcomes if o.is_error] == ["number 1"]
    assert outcomes[1].error.startswith("E703 number 1: the process that worked on it died")
    assert [o.value for o in outcomes] == [0, None, 4, 9, 16, 25]


def test_a_value_that_cannot_travel_is_an_error_of_its_task(address):
    outcomes = list(run_tasks(handle, numbers(2, n0="gives a function"), executor=on(address)))

    assert outcomes[0].error.startswith("E700 number 0: ")
    assert outcomes[1] == TaskResult("number 1", 1)


def test_workers_with_another_version_are_refused_by_name(address, monkeypatch):
    monkeypatch.setattr(dask_cluster, "__version__", "99.1")

    with pytest.raises(EnvironmentProblem) as refused:
        list(run_tasks(handle, numbers(1), executor=on(address)))

    assert "do not have Kubeproof 99.1 (tcp://127.0.0.1:" in str(refused.value)
    assert 'pip install "kubeproof[distributed]==99.1"' in str(refused.value)


def test_an_address_where_nobody_answers_is_an_environment_problem():
    pytest.importorskip("distributed", reason='needs pip install "kubeproof[distributed]"')

    with pytest.raises(EnvironmentProblem, match=r"E401 no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        list(run_tasks(handle, numbers(1), executor=Dask("tcp://127.0.0.1:1", connect_s=0.2)))


def test_an_interrupt_leaves_the_cluster_usable(address):
    def interrupt(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_tasks(handle, numbers(30), executor=on(address), on_progress=interrupt))

    assert list(run_tasks(handle, numbers(1), executor=on(address))) == [TaskResult("number 0", 0)]


def swept(folder: Path, executor: object) -> list[str]:
    """The JSON report of a sweep over all sizes of a case, without the lines that tell times."""
    chosen = SweepOptions(limit=Limit(2, 2), every=True, executor=executor)
    plan = plan_sweep(load([str(folder)]), VerifyOptions(), chosen, None)
    lines = render(sweep.run_sweep(plan, chosen)).splitlines()
    return [line for line in lines if '"elapsed_s":' not in line]


@pytest.fixture
def case(tmp_path):
    """A copy of a shipped case, in a folder of its own."""
    return Path(shutil.copytree(ROOT / "src" / "kubeproof" / "cases" / "c8" / "violating", tmp_path / "case"))


def test_a_sweep_on_the_cluster_gives_the_report_of_a_sweep_here(address, case):
    here = swept(case, InProcess())

    assert swept(case, on(address)) == here
    assert swept(case, Pool(2)) == here


def test_a_sweep_survives_a_worker_killed_in_the_middle(address, case, monkeypatch):
    here = swept(case, InProcess())
    monkeypatch.setattr(sweep, "verify_size", verify_size_dying_once)

    assert swept(case, on(address)) == here

    (case / "killed once").unlink()
    assert swept(case, Pool(2)) == here
    assert (case / "killed once").exists()
