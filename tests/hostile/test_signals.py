"""SIGTERM and Ctrl-C at any moment of every command: the exit code of the contract, and what is known by then."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest

from kubeproof.cli import main as program
from kubeproof.cli.running.interruption import Interruption
from tests.hostile.signalled import COMMANDS, ELSEWHERE, LONG, ROOT, Ending, check, inputs, leaves, words_of
from tests.unit.quantify.programs import needs_storm

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which signals a process hears"),
    # An interrupt that comes while Python drops a generator is swallowed there, and comes again after AGAIN_S.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
NEVER = -1
PATIENCE_S = 120
NAMES = [pytest.param(name, marks=needs_storm if name.startswith("quantify") else ()) for name in COMMANDS]
SHORT = [one for one in NAMES if one.values[0] not in LONG]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("signalled")
    cleanup = inputs(place)
    next(cleanup)
    assert program.main(["verify", str(place / "web.yaml"), "-o", f"json={place / 'trace.json'}"]) == 1
    with (place / "home.yaml").open("w") as file:
        words = [sys.executable, "-m", "kubeproof.cli.main", "network", "generate", "home"]
        subprocess.run(words, stdout=file, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    assert program.main(["replay", str(place / "trace.json"), "--as-audit", str(place / "audit.log")]) == 1
    yield place
    cleanup.close()


class Sending:
    """Counts the calls of functions in a command, and sends a signal at one of them."""

    def __init__(self, moment: int = NEVER, number: int = signal.SIGINT) -> None:
        self.calls, self._moment, self._number = 0, moment, number
        self._process = os.getpid()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        self.calls += event == "call"
        if not self.calls & 1023 and os.getpid() != self._process:  # what is forked off is not watched
            sys.setprofile(None)
        elif self.calls == self._moment and os.getpid() == self._process:
            sys.setprofile(None)
            os.kill(self._process, self._number)


def forget(folder: Path) -> None:
    """Removes what commands remember of earlier runs."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    for path in folder.glob("state.db*"):
        path.unlink()


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ending]:
    """Runs a command in this process, watched by a hook while it hears signals."""
    invoke = program._invoke

    def ended(name: str, hook: Sending) -> Ending:
        forget(folder)

        def hooked(words: list[str], interruption: Interruption) -> int:
            sys.setprofile(hook)
            try:
                return invoke(words, interruption)
            finally:
                sys.setprofile(None)

        monkeypatch.setattr(program, "_invoke", hooked)
        capsys.readouterr()
        others = gc.callbacks[:]  # what other tests hang on the collector would swallow an interrupt that comes there
        gc.callbacks.clear()
        try:
            code = program.main(words_of(name, folder))
        finally:
            gc.callbacks[:] = others
        return Ending(code, *capsys.readouterr())

    return ended


def test_every_command_is_among_those_that_are_interrupted() -> None:
    words = [tuple(word for word in command if not word.startswith(("-", "/", "{"))) for command in COMMANDS.values()]

    missing = [leaf for leaf in leaves() - ELSEWHERE if not any(one[: len(leaf)] == leaf for one in words)]
    assert missing == []


@pytest.mark.parametrize("name", SHORT)
def test_a_signal_at_any_moment_ends_a_command_by_the_contract(name: str, run: Callable[..., Ending]) -> None:
    hook = Sending()
    whole = run(name, hook)
    assert whole.code in (0, 1, 3, 5), whole
    chance = random.Random(name)
    for number in SIGNALS:
        moment = chance.randint(1, hook.calls)
        check(name, run(name, Sending(moment, number)), whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_signals_at_many_moments(name: str, run: Callable[..., Ending]) -> None:
    hook = Sending()
    whole = run(name, hook)
    chance = random.Random(f"many {name}")
    for round_number in range(10):
        moment = chance.randint(1, hook.calls)
        check(name, run(name, Sending(moment, SIGNALS[round_number % 2])), whole)


# -- real processes, larger inputs ---------------------------------------------------------------------

LARGE: dict[str, tuple[str, ...]] = {
    "verify, large": ("verify", str(ROOT / "examples/09-microservices"), "--max-states", "30000", "-o", "json"),
    "verify, all sizes in a pool": (
        *("verify", str(ROOT / "src/kubeproof/cases/c8/safe"), "--scale", "3,3", "--executor", "pool"),
        *("--workers", "2", "-o", "json"),
    ),
    "verify, default scenario": ("verify", str(ROOT / "examples/07-two-namespaces"), "-o", "json"),
    "cases, all": ("cases", "run", "c2", "c5", "c8", "--workers", "2", "-o", "json"),
    "simulate, many": (
        *("simulate", str(ROOT / "examples/11-simulated-shop"), "--duration", "3m", "--runs", "6"),
        *("--workers", "2", "-o", "json"),
    ),
    "quantify, large": ("quantify", "autoscaling", "--model", "all", "--set", "horizon=8", "--steps", "4"),
}


def hears(process: subprocess.Popen[str], number: int) -> bool:
    """True once the command has its handler; before, a signal meets the interpreter alone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt"):
                return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return process.poll() is not None


def started(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kubeproof.cli.main", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, stdin=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def signalled(words: list[str], number: int, delay_s: float) -> tuple[Ending, float]:
    """How a command ends that is sent a signal a while after it began, and how long that takes."""
    process = started(words)
    try:
        while not hears(process, number):
            time.sleep(0.002)
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay_s)
        begin = time.monotonic()
        if process.poll() is None:
            process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
        return Ending(process.returncode, out, err), time.monotonic() - begin
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
def test_200_processes_are_signalled_at_random_moments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = int(os.environ.get("KUBEPROOF_SIGNAL_ROUNDS", "200"))
    every = {name: words_of(name, folder) for name in COMMANDS} | {name: list(words) for name, words in LARGE.items()}
    chance = random.Random(18)
    known: dict[str, tuple[Ending, float]] = {}
    times: list[tuple[float, str]] = []
    codes: dict[int, int] = {}
    for number in range(rounds):
        pool = list(LARGE) if number % 4 == 3 else list(every)
        forget(folder)
        name = chance.choice(pool)
        if name not in known:
            begin = time.monotonic()
            done = started(every[name])
            out, err = done.communicate(timeout=PATIENCE_S)
            known[name] = (Ending(done.returncode, out, err), time.monotonic() - begin)
            forget(folder)
        whole, duration_s = known[name]
        found, took_s = signalled(every[name], chance.choice(SIGNALS), chance.uniform(0, duration_s))
        COMMANDS.setdefault(name, tuple(every[name]))
        check(name, found, whole)
        times.append((took_s, name))
        codes[found.code] = codes.get(found.code, 0) + 1
    with capsys.disabled():
        times.sort()
        print(f"\n{rounds} rounds, exit codes {codes}; median {times[rounds // 2]}, slowest endings {times[-5:]}")
