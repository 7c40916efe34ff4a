"""kill -9 at any moment, then --resume: the same JSON, byte for byte, as a run that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kubeproof.engine.search import find_compiled_kernel

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = ROOT / "src" / "kubeproof" / "cases"
ENGINES = ["python"] + (["compiled"] if find_compiled_kernel() else [])
RUNS = {
    "a broken safety intent after a deployed start": ["c2/violating", "--scale", "none"],
    "a kept safety intent after a deployed start": ["c2/safe", "--scale", "none", "--without", "abstraction"],
    "a coarser model that is refuted": ["c1/violating", "--scale", "none", "--find", "all"],
    "a broken liveness intent": ["c8/violating", "--scale", "none"],
    "all violations": ["c5/violating", "--scale", "none", "--find", "all"],
    "a sweep in this process": ["c8/violating", "--scale", "2,2", "--workers", "1"],
    "a sweep in a pool": ["c1/safe", "--scale", "2,3", "--workers", "2"],
}
MOMENTS = ("write", "rename", "renamed")


def started(moment: str, name: str, engine: str, folder: Path, *extra: str) -> subprocess.Popen[str]:
    """A run under way; its report goes to `report.formats.json` in the folder."""
    paths, *flags = RUNS[name]
    report = folder / "report.json"
    return subprocess.Popen(
        [sys.executable, str(HERE / "dying_run.py"), moment, "verify", str(CASES / paths), *flags, "--engine", engine,
         "-o", f"json={report}", *extra],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "random"},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], delay_s: float | None = None) -> tuple[int, str]:
    """How a run ends, and what it says; killed after a delay if there is one and the run still goes."""
    try:
        said = process.communicate(timeout=delay_s)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
    return process.returncode, said


def without_times(folder: Path) -> list[str]:
    """The lines of the report that do not tell how long something took."""
    report = json.loads((folder / "report.json").read_text(encoding="ascii"))
    for result in report["results"]:
        result.pop("strategy", None)  # a run that is kept takes no first look
    lines = json.dumps(report, indent=2).splitlines()
    spent = ('"elapsed_s":', '"memo_calls":', '"memo_misses":')  # what was asked again after a kill counts twice
    return [line for line in lines if not any(word in line for word in spent)]


def undisturbed(name: str, engine: str, folder: Path) -> list[str]:
    """The report of a run that nobody disturbed, made once."""
    place = folder / f"{name} {engine}"
    if not place.exists():
        place.mkdir()
        assert ended(started("never", name, engine, place))[0] in (0, 1)
    return without_times(place)


@pytest.fixture(scope="module")
def undisturbed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("undisturbed")


def one_round(seed: int, folder: Path, undisturbed_folder: Path) -> None:
    """Kills a run at least once, up to four times, and resumes it to the end."""
    choice = random.Random(seed)
    name, engine = sorted(RUNS)[seed % len(RUNS)], ENGINES[seed // len(RUNS) % len(ENGINES)]
    checkpoint = str(folder / "run")
    first = f"write:{choice.randint(1, 12)}"  # every run writes more often
    assert ended(started(first, name, engine, folder, "--checkpoint", checkpoint))[0] == -9
    for _ in range(choice.randint(0, 3)):
        delay_s = choice.uniform(0.1, 2.0) if choice.random() < 0.3 else None
        moment = f"{choice.choice(MOMENTS)}:{choice.randint(1, 12)}" if delay_s is None else "never"
        code, said = ended(started(moment, name, engine, folder, "--checkpoint", checkpoint, "--resume"), delay_s)
        assert code in (0, 1, -9), said
    code, said = ended(started("never", name, engine, folder, "--checkpoint", checkpoint, "--resume"))
    assert code in (0, 1), said
    assert without_times(folder) == undisturbed(name, engine, undisturbed_folder)


@pytest.mark.parametrize("seed", [1, 9, 10, 4, 12, 6])
def test_a_killed_run_resumes_to_the_same_report(seed: int, tmp_path: Path, undisturbed_folder: Path) -> None:
    one_round(seed, tmp_path, undisturbed_folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_killed_runs_resume_to_the_same_report_fifty_times(seed: int, tmp_path: Path, undisturbed_folder: Path) -> None:
    one_round(seed, tmp_path, undisturbed_folder)


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("write:1", "a broken liveness intent"),
        ("rename:1", "a broken liveness intent"),
        ("renamed:1", "a broken liveness intent"),
        ("write:7", "a sweep in this process"),
    ],
)
def test_the_run_dies_where_it_is_told_to_and_resumes(
    moment: str, name: str, tmp_path: Path, undisturbed_folder: Path
) -> None:
    checkpoint = str(tmp_path / "run")
    assert ended(started(moment, name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint))[0] == -9
    assert not (tmp_path / "report.json").exists()

    code, said = ended(started("never", name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint, "--resume"))

    assert (code, said) == (1, f"VIOLATED: see {tmp_path / 'report.json'}\n")
    assert without_times(tmp_path) == undisturbed(name, ENGINES[-1], undisturbed_folder)


@pytest.mark.parametrize(
    ("moment", "name", "final"),
    [
        ("interrupt:40", "a kept safety intent after a deployed start", 0),
        ("interrupt:200", "a kept safety intent after a deployed start", 0),
        ("interrupt:100", "a coarser model that is refuted", 1),
        ("interrupt:8", "a sweep in this process", 1),
        ("interrupt:6", "a sweep in a pool", 0),
    ],
)
def test_an_interrupted_run_says_how_to_resume_and_does(
    moment: str, name: str, final: int, tmp_path: Path, undisturbed_folder: Path
) -> None:
    checkpoint = str(tmp_path / "run")
    code, said = ended(started(moment, name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint))

    assert code == 130
    assert f"checkpoint written to {checkpoint}: repeat the command with --resume to continue\n" in said
    assert "Traceback" not in said
    assert ended(started("never", name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint, "--resume"))[0] == final
    assert without_times(tmp_path) == undisturbed(name, ENGINES[-1], undisturbed_folder)


def test_a_finished_run_gives_its_report_again_without_searching(tmp_path: Path) -> None:
    name, checkpoint = "a broken liveness intent", str(tmp_path / "run")
    ended(started("never", name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint))
    first = (tmp_path / "report.json").read_bytes()

    assert ended(started("write:1", name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint, "--resume"))[0] == 1

    assert (tmp_path / "report.json").read_bytes() == first
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["journal"]


@pytest.mark.parametrize(
    ("name", "flags", "reason"),
    [
        ("a broken liveness intent", [], "holds the checkpoint of an earlier run. Continue that run with --resume"),
        ("a broken liveness intent", ["--resume", "--max-states", "9"], "max_states was None and is 9"),
        ("a broken liveness intent", ["--resume", "--no-reductions"], "reductions was True and is False"),
        ("a kept safety intent after a deployed start", ["--resume"], "the input differs"),
        ("a sweep in this process", ["--resume"], "all was absent and is False"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_with_the_reason(
    name: str, flags: list[str], reason: str, tmp_path: Path
) -> None:
    checkpoint = str(tmp_path / "run")
    ended(started("never", "a broken liveness intent", ENGINES[-1], tmp_path, "--checkpoint", checkpoint))

    code, said = ended(started("never", name, ENGINES[-1], tmp_path, "--checkpoint", checkpoint, *flags))

    assert code == 2
    assert said.startswith(f"error: E203 {checkpoint} ")
    assert reason in said


def test_more_time_and_memory_may_be_given_when_a_run_continues(tmp_path: Path, undisturbed_folder: Path) -> None:
    name, checkpoint = "a kept safety intent after a deployed start", ["--checkpoint", str(tmp_path / "run")]
    code, said = ended(started("never", name, ENGINES[-1], tmp_path, *checkpoint, "--timeout", "1e-9"))
    assert code == 3
    assert "checkpoint written to" in said

    more = [*checkpoint, "--resume", "--timeout", "1000", "--memory", "100000"]
    assert ended(started("never", name, ENGINES[-1], tmp_path, *more))[0] == 0

    assert without_times(tmp_path) == undisturbed(name, ENGINES[-1], undisturbed_folder)


def test_resume_without_a_checkpoint_is_wrong_usage(tmp_path: Path) -> None:
    code, said = ended(started("never", "a broken liveness intent", ENGINES[-1], tmp_path, "--resume"))

    assert (code, said) == (
        2,
        "error: E202 --resume needs a run to continue. Name its directory with --checkpoint DIR.\n",
    )
