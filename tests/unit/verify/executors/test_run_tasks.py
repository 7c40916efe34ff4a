"""The same outcomes in the same order from every executor, whatever the tasks do."""

import multiprocessing
from functools import partial
from types import SimpleNamespace

import pytest

from kubeproof.errors import EnvironmentProblem, InternalError
from kubeproof.verify.executors.gradual import Gradual
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.pool import Pool, PoolSession
from kubeproof.verify.executors.run import run_tasks
from kubeproof.verify.executors.task import TaskProgress, TaskResult
from tests.unit.verify.executors.work import Number, handle, numbers, offset, tries

ALL = [
    pytest.param(InProcess(), id="inprocess"),
    pytest.param(Pool(1), id="pool:1"),
    pytest.param(Pool(3), id="pool:3"),
    pytest.param(Gradual(3), id="auto"),
]
POOLS = ALL[1:3]


def squares(*which: int) -> list[TaskResult[int]]:
    return [TaskResult(f"number {n}", n * n) for n in which]


@pytest.mark.parametrize("executor", ALL)
def test_outcomes_come_in_the_order_of_the_tasks(executor):
    assert list(run_tasks(handle, numbers(20), executor=executor)) == squares(*range(20))


@pytest.mark.parametrize("executor", ALL)
def test_work_may_carry_values_of_its_own(executor):
    outcomes = list(run_tasks(partial(offset, 100), numbers(2), executor=executor))

    assert outcomes == [TaskResult("number 0", 100), TaskResult("number 1", 101)]


@pytest.mark.parametrize("executor", ALL)
def test_no_tasks_give_no_outcomes(executor):
    assert list(run_tasks(handle, (), executor=executor)) == []


@pytest.mark.parametrize("executor", ALL)
def test_two_tasks_with_one_key_are_refused(executor):
    with pytest.raises(InternalError, match="same key"):
        list(run_tasks(handle, (Number(1), Number(1)), executor=executor))


@pytest.mark.parametrize("executor", ALL)
def test_an_error_of_ours_keeps_its_words_and_is_not_tried_again(executor, tmp_path):
    tasks = numbers(3, tmp_path, n1="refuses")

    outcomes = list(run_tasks(handle, tasks, executor=executor))

    assert outcomes[1] == TaskResult("number 1", None, "E202 number 1 is not wanted. Take another")
    assert outcomes[1].is_error
    assert [outcomes[0], outcomes[2]] == squares(0, 2)
    assert tries(tasks[1]) == 1


@pytest.mark.parametrize("executor", ALL)
@pytest.mark.parametrize(
    ("deed", "error"),
    [
        (
            "fails",
            "E700 number 1: ZeroDivisionError: no number. This is a fault of Kubeproof: please report it.",
        ),
        (
            "runs out of memory",
            "E302 number 1: out of memory. Set --memory or --max-states to stop in time, or use fewer workers.",
        ),
        ("leaves", "E700 number 1: SystemExit: 3. This is a fault of Kubeproof: please report it."),
    ],
)
def test_an_exception_is_an_error_that_names_the_task_and_the_rest_goes_on(executor, deed, error):
    outcomes = list(run_tasks(handle, numbers(3, n1=deed), executor=executor))

    assert outcomes == [*squares(0), TaskResult("number 1", None, error), *squares(2)]


@pytest.mark.parametrize("executor", ALL)
def test_the_first_outcome_in_task_order_that_stops_is_the_last(executor):
    outcomes = list(run_tasks(handle, numbers(50), executor=executor, stop=lambda o: (o.value or 0) >= 49))

    assert outcomes == squares(*range(8))


@pytest.mark.parametrize("executor", ALL)
def test_a_later_task_that_stops_and_ends_first_does_not_hide_earlier_ones(executor, tmp_path):
    tasks = numbers(6, tmp_path, n0="dies once") if isinstance(executor, Pool) else numbers(6)

    outcomes = list(run_tasks(handle, tasks, executor=executor, stop=lambda o: o.key != "number 0"))

    assert outcomes == squares(0, 1)


@pytest.mark.parametrize("executor", ALL)
def test_an_early_stop_begins_few_tasks_in_vain(executor, tmp_path):
    tasks = numbers(200, tmp_path)

    list(run_tasks(handle, tasks, executor=executor, stop=lambda o: o.key == "number 2"))

    assert sum(tries(task) for task in tasks) <= 3 + 4 * executor.open(handle).width


@pytest.mark.parametrize("executor", POOLS)
def test_a_worker_that_dies_loses_nothing(executor, tmp_path):
    tasks = numbers(6, tmp_path, n2="dies once")

    assert list(run_tasks(handle, tasks, executor=executor)) == squares(*range(6))
    assert [tries(task) for task in tasks] == [1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("executor", POOLS)
def test_a_task_that_kills_two_workers_is_an_error_and_the_rest_goes_on(executor, tmp_path):
    tasks = numbers(5, tmp_path, n0="dies", n3="dies")

    outcomes = list(run_tasks(handle, tasks, executor=executor))

    assert outcomes[1:3] + outcomes[4:] == squares(1, 2, 4)
    assert [o.error.split(":")[0] for o in outcomes if o.is_error] == ["E703 number 0", "E703 number 3"]
    assert [tries(task) for task in tasks] == [2, 1, 1, 2, 1]


def test_a_value_that_cannot_travel_is_an_error_of_its_task():
    outcomes = list(run_tasks(handle, numbers(2, n0="gives a function"), executor=Pool(1)))

    assert outcomes[0].error.startswith("E700 number 0: ")
    assert outcomes[1:] == squares(1)


def test_work_that_cannot_travel_is_refused():
    with pytest.raises(InternalError, match="cannot be sent to other processes"):
        list(run_tasks(lambda task: task, numbers(1), executor=Pool(1)))


def test_work_that_the_worker_cannot_load_is_an_environment_problem(monkeypatch):
    monkeypatch.setattr("kubeproof.verify.executors.pool._pickle", lambda work: b"cno_such_module\nwork\n.")

    with pytest.raises(EnvironmentProblem, match="No module named 'no_such_module'"):
        list(run_tasks(handle, numbers(1), executor=Pool(1)))


def test_workers_that_never_start_are_an_environment_problem(monkeypatch):
    monkeypatch.setattr("kubeproof.verify.executors.pool.serve", exit)

    with pytest.raises(EnvironmentProblem, match="worker processes cannot be started"):
        list(run_tasks(handle, numbers(1), executor=Pool(1)))


def test_large_values_travel():
    outcomes = run_tasks(handle, numbers(3, n0="gives much", n1="gives much", n2="gives much"), executor=Pool(2))

    assert [outcome.value for outcome in outcomes] == [bytes([n]) * 1_000_000 for n in range(3)]


def test_workers_do_not_write_to_stdout(capfd):
    assert list(run_tasks(handle, numbers(1, n0="chatters"), executor=Pool(1))) == squares(0)

    assert capfd.readouterr() == ("", "stray words of a worker\n")


def test_workers_do_not_hear_interrupts():
    assert list(run_tasks(handle, numbers(1, n0="hears an interrupt"), executor=Pool(1))) == [
        TaskResult("number 0", "deaf")
    ]


@pytest.mark.parametrize("executor", POOLS)
def test_leaving_early_ends_all_workers(executor):
    outcomes = run_tasks(handle, numbers(50), executor=executor)

    assert next(outcomes) == squares(0)[0]
    outcomes.close()

    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("executor", ALL)
def test_an_interrupt_passes_through_and_ends_all_workers(executor):
    def interrupt(progress: TaskProgress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_tasks(handle, numbers(9), executor=executor, on_progress=interrupt))

    assert multiprocessing.active_children() == []


def test_progress_tells_what_is_done_and_what_runs():
    seen: list[TaskProgress] = []

    list(run_tasks(handle, numbers(2), executor=InProcess(), on_progress=seen.append))

    first, second = squares(0, 1)
    assert seen == [TaskProgress(0, 2, (), None), TaskProgress(1, 2, (), first), TaskProgress(2, 2, (), second)]


class Remembered:
    """A journal in memory."""

    def __init__(self, **values: int) -> None:
        self.values = {key.replace("_", " "): value for key, value in values.items()}

    def read_known(self) -> dict[str, int]:
        return dict(self.values)

    def add(self, key: str, value: int) -> None:
        self.values[key] = value


@pytest.mark.parametrize("executor", ALL)
def test_what_the_journal_knows_is_not_done_again_and_what_is_done_is_journalled(executor, tmp_path):
    journal, tasks = Remembered(number_1=1, number_2=4), numbers(4, tmp_path)

    assert list(run_tasks(handle, tasks, executor=executor, journal=journal)) == squares(*range(4))
    assert [tries(task) for task in tasks] == [1, 0, 0, 1]
    assert journal.values == {f"number {n}": n * n for n in range(4)}


@pytest.mark.parametrize("executor", ALL)
def test_errors_are_not_journalled(executor):
    journal = Remembered()

    list(run_tasks(handle, numbers(2, n0="fails"), executor=executor, journal=journal))

    assert journal.values == {"number 1": 1}


def test_a_journalled_stop_starts_no_worker(monkeypatch):
    monkeypatch.setattr(Pool, "open", lambda self, work: pytest.fail("a session was opened"))
    journal = Remembered(number_0=0, number_1=1)

    outcomes = list(run_tasks(handle, numbers(9), executor=Pool(2), journal=journal, stop=lambda o: o.value == 1))

    assert outcomes == squares(0, 1)


@pytest.mark.parametrize("executor", ALL)
def test_without_time_nothing_begins(executor, tmp_path):
    tasks = numbers(3, tmp_path)

    assert list(run_tasks(handle, tasks, executor=executor, left_s=lambda: 0.0)) == []
    assert sum(map(tries, tasks)) == 0 or executor in (Pool(1), Pool(3))  # handed to workers that are ended at once
    assert multiprocessing.active_children() == []


def test_a_task_that_does_not_end_in_time_is_left_and_others_are_told_of():
    heard: list[TaskResult[int]] = []

    def note(progress: TaskProgress) -> None:
        heard.extend([] if progress.last is None else [progress.last])

    def left_s() -> float:
        return 0.0 if len(heard) == 2 else 3600.0

    tasks = numbers(3, n0="never ends")
    outcomes = list(run_tasks(handle, tasks, executor=Pool(2), on_progress=note, left_s=left_s))

    assert outcomes == []  # the first in order is not known
    assert sorted(heard, key=lambda outcome: outcome.key) == squares(1, 2)
    assert multiprocessing.active_children() == []


class Line:
    """The connection to a worker that answers at once, or that is dead."""

    def __init__(self, answers: list[object]) -> None:
        self.answers, self.sent = answers, []

    def poll(self) -> bool:
        return bool(self.answers)

    def recv(self) -> object:
        return self.answers.pop(0)

    def send(self, task: object) -> None:
        self.sent.append(task)

    def close(self) -> None:
        pass


def worker(held: int, answers: list[object]) -> SimpleNamespace:
    process = SimpleNamespace(join=lambda patience=None: None, exitcode=-9, sentinel=object())
    nothing = lambda: None  # noqa: E731
    line = Line(answers)
    return SimpleNamespace(connection=line, process=process, is_ready=True, held=held, end=nothing, join=nothing)


def test_a_worker_that_dies_together_with_an_answer_is_replaced_although_nothing_more_is_submitted(monkeypatch):
    session = PoolSession(handle, 2)
    first, second = numbers(2)
    dead, alive = worker(0, []), worker(1, [(1, None), (0, None)])
    session._workers, session._tasks = [dead, alive], {0: first, 1: second}
    monkeypatch.setattr(session, "_stirring", lambda wait_s: [one for one in (dead, alive) if one in session._workers])

    assert session.next(lambda: 1.0) == (1, (1, None))
    assert session.next(lambda: 1.0) == (0, (0, None))
    assert alive.connection.sent == [first]
