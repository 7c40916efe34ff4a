"""Tasks on a Dask cluster that the user runs.

Dask tries a task again when its worker dies, a few times, and then gives up on every task that the dead workers
held, guilty or not. A task given up so is therefore tried once more, alone; only what kills a worker then is an
error.
"""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any

from kubeproof import __version__
from kubeproof.errors import EnvironmentProblem
from kubeproof.values import dataclass
from kubeproof.verify.executors.session import Left, Session
from kubeproof.verify.executors.task import Answer, Task, Work, error_text, make_poisoned
from kubeproof.verify.executors.worker import pack

INSTALL = 'pip install "kubeproof[distributed]"'
CONNECT_S = 10
CHILDHOOD_S = 4.0  # of a worker
DESERTED_S = 60  # without any worker for so long, the run ends
LOST = ("lost", "pending")  # states of a future whose answer is gone again
IN_FLIGHT = 4  # tasks per thread, so that none waits for the network
LOOK_S = 5.0  # between two looks at the number of workers while nothing arrives

_one_at_a_time = threading.Lock()  # in a worker: its threads share the interpreter and our memo tables


def call(payload: bytes, task: Task) -> bytes:
    """Does one task in a worker of the cluster; the answer is pickled."""
    with _one_at_a_time:
        _await_nanny()
        return pack(task, _load(payload))


@lru_cache(maxsize=1)
def _await_nanny() -> None:
    """Waits once in each worker until its nanny knows that it lives.

    A task that kills a worker at the very start makes the nanny believe that workers cannot start here, and give up.
    """
    import psutil  # Dask itself needs it

    time.sleep(max(0.0, CHILDHOOD_S - (time.time() - psutil.Process().create_time())))


@lru_cache(maxsize=1)
def _load(payload: bytes) -> Work:
    """The work, unpickled once per worker, so that what it remembers serves all its tasks."""
    work: Work = pickle.loads(payload)
    return work


def version_here() -> str:
    """The version of Kubeproof where this runs."""
    return __version__


@dataclass(frozen=True, slots=True)
class Dask:
    """A cluster by the address of its scheduler."""

    address: str
    connect_s: float = field(default=CONNECT_S, compare=False)

    def open(self, work: Work) -> Session:
        """A session with the cluster, after a look at the versions of its workers."""
        client = _connect(self.address, self.connect_s)
        try:
            _check_versions(client, self.address, self.connect_s)
            return DaskSession(client, work, self.address)
        except BaseException:
            client.close()
            raise


def _connect(address: str, connect_s: float) -> Any:
    try:
        from distributed import Client
    except ImportError as problem:
        raise EnvironmentProblem(f"E401 --executor dask:// needs Dask. Install it with: {INSTALL}") from problem
    try:
        return Client(address, timeout=connect_s, set_as_default=False, name="kubeproof")
    except (OSError, TimeoutError, ValueError) as problem:
        raise EnvironmentProblem(
            f"E401 no Dask scheduler answers at {address}: {problem}. Start one with: dask scheduler"
        ) from problem


def _check_versions(client: Any, address: str, connect_s: float) -> None:
    """Refuses a cluster without workers, and workers without this very version of Kubeproof."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=connect_s)
    found = client.run(version_here, on_error="return")
    if not found:
        raise EnvironmentProblem(f"E401 the cluster at {address} has no workers. Start one: dask worker {address}")
    wrong = {name: _describe(version) for name, version in found.items() if version != __version__}
    if wrong:
        listed = "; ".join(f"{name}: {what}" for name, what in sorted(wrong.items()))
        raise EnvironmentProblem(
            f"E401 workers of {address} do not have Kubeproof {__version__} ({listed}). "
            f'Run on each: pip install "kubeproof[distributed]=={__version__}"'
        )


def _describe(version: object) -> str:
    return f"not installed, {version}" if isinstance(version, BaseException) else f"version {version}"


class DaskSession:
    """A client of the cluster and the tasks it is working on."""

    def __init__(self, client: Any, work: Work, address: str) -> None:
        self._client, self._address = client, address
        # A task of its own: each worker fetches the work once, and the scheduler makes it anew if its holders die.
        payload = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        self._payload = client.submit(bytes, payload, key=f"kubeproof-work-{uuid.uuid4().hex}")
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._fetched: dict[str, bytes] = {}  # answers that came along with another one, by the key of the future
        self._held: dict[str, tuple[int, Task, Any]] = {}  # by the key of the future
        self._arrived: deque[Any] = deque()  # futures that ended
        self._suspects: deque[tuple[int, Task]] = deque()  # tried alone, one after the other
        self._threads = self._count_threads()

    @property
    def width(self) -> int:
        return IN_FLIGHT * max(1, self._threads)

    @property
    def free(self) -> int:
        return 0 if self._suspects else self.width - len(self._held)

    def submit(self, index: int, task: Task) -> None:
        key = f"kubeproof-{uuid.uuid4().hex}"
        future = self._client.submit(call, self._payload, task, key=key, priority=-index)
        self._held[key] = index, task, future
        future.add_done_callback(self._ended.put)

    def next(self, left_s: Left) -> tuple[int, Answer] | None:
        while True:
            if self._suspects and not self._held:
                self.submit(*self._suspects[0])
            future = self._next_future(left_s)
            if future is None:
                return None
            index, task, _ = self._held.pop(future.key)
            answer = self._answer(index, task, future)
            if answer is not None:
                if self._suspects and self._suspects[0][0] == index:
                    self._suspects.popleft()
                return index, answer

    def close(self) -> None:
        futures = [future for _, _, future in self._held.values()]
        with suppress(Exception):  # a cluster that is gone needs no good-bye
            self._client.cancel([*futures, self._payload], force=True)
        self._held.clear()
        self._client.close()

    def _next_future(self, left_s: Left) -> Any:
        """A future that ended; all that ended with it are fetched in one go, since each journey takes its time."""
        if self._arrived:
            return self._arrived.popleft()
        first = self._wait(left_s)
        if first is None:
            return None
        self._arrived.append(first)
        with suppress(Empty):
            while True:
                self._arrived.append(self._ended.get_nowait())
        done = [future for future in self._arrived if future.status == "finished"]
        try:
            answers = self._client.gather(done)
        except Exception:  # one of them lost its worker meanwhile: `_answer` asks for each
            answers = []
        self._fetched |= {future.key: answer for future, answer in zip(done, answers, strict=False)}
        return self._arrived.popleft()

    def _wait(self, left_s: Left) -> Any:
        """The next future that ended, if there is time for it; the end of the run if the cluster stays without
        workers."""
        deserted_s = 0.0
        while (wait_s := left_s()) > 0:
            try:
                return self._ended.get(timeout=min(LOOK_S, wait_s))
            except Empty:
                self._threads = self._count_threads()
                deserted_s = 0.0 if self._threads else deserted_s + LOOK_S
            if deserted_s >= DESERTED_S:
                raise EnvironmentProblem(
                    f"E401 the cluster at {self._address} has lost all its workers. Start some and resume."
                )
        return None

    def _answer(self, index: int, task: Task, future: Any) -> Answer | None:
        """What came of a task; None if it has to be tried again."""
        fetched = self._fetched.pop(future.key, None)
        status = future.status  # read once: it changes while we look
        if fetched is not None or status == "finished":
            answer: Answer = pickle.loads(fetched or future.result())
            return answer
        if status in LOST and self._client.status == "running":
            self.submit(index, task)  # it ended, and its worker died before anybody fetched the answer
            return None
        problem = future.exception() if status == "error" else None
        if problem is None:
            raise EnvironmentProblem(f"E401 the connection to {self._address} is lost. Check the scheduler and resume.")
        if type(problem).__name__ != "KilledWorker":
            return None, error_text(task.key, problem)
        if self._held or (self._suspects and self._suspects[0][0] != index):
            self._suspects.append((index, task))  # perhaps its neighbour is to blame
            return None
        return None, make_poisoned(task.key)

    def _count_threads(self) -> int:
        """The threads of all workers now; 0 if the scheduler does not answer."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError):
            return 0
