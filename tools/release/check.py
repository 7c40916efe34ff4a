"""Installs built artifacts the way people do, under every Python that is found, and runs what the README promises:

    python -m tools.release.check DIST               wheel, sdist with a compiler and without one, Krew archive
    python -m tools.release.check DIST --quick       the wheel alone, under this Python

For each: both console scripts, `--help` of every command, and the README's first command, with its exit code. Needs
the network, as pip does. Prints what each took; ends with 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXAMPLE, VIOLATED = "examples/01-conflicting-spread", 1
ENGINE = re.compile(r"^(ok|--) +compiled engine", re.MULTILINE)


class Way(NamedTuple):
    """One way to install: its name, how, and whether the compiled engine must be there (None: either will do)."""

    name: str
    install: Callable[[Path], Path]  # into a folder; where the programs are then
    is_compiled: bool | None


def pythons() -> list[str]:
    """The interpreters that are there and start."""
    return [found for number in PYTHONS if (found := find_python(number))]


def find_python(number: str) -> str | None:
    """One on the PATH, or one of pyenv's."""
    versions = sorted((Path.home() / ".pyenv" / "versions").glob(f"{number}.*/bin/python"))
    for program in (shutil.which(f"python{number}"), *map(str, versions)):
        if program is not None and version_of(program) == number:
            return program
    return None


def version_of(program: str) -> str:
    """Its version, as far as that matters; nothing if it does not start."""
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", script], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def is_online() -> bool:
    """True if pip finds a package; without the network nothing can be installed."""
    with tempfile.TemporaryDirectory() as folder:
        ask_pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", folder, "click"]
        return subprocess.run(ask_pip, capture_output=True, check=False).returncode == 0


def ways(dist: Path, python: str, *, quick: bool) -> Iterator[Way]:
    """The ways to install under one Python."""
    (sdist,) = dist.glob("kubeproof-*.tar.gz")
    for wheel in filter(lambda wheel: fits(wheel.name, version_of(python)), sorted(dist.glob("kubeproof-*.whl"))):
        yield Way("wheel", lambda folder, file=wheel: install(python, folder, file), "none-any" not in wheel.name)
    if quick:
        return
    yield Way("sdist", lambda folder: install(python, folder, sdist), True if shutil.which("cc") else None)
    yield Way("sdist, no compiler", lambda folder: install(python, folder, sdist, CC="false"), False)
    for archive in dist.glob("kubectl-proof-*.tar.gz"):
        yield Way("krew archive", lambda folder, file=archive: unpack(python, folder, file), False)


def fits(wheel: str, version: str) -> bool:
    """True of a wheel for this version and this machine, and of one for all."""
    system = {"darwin": "macosx", "win32": "win"}.get(sys.platform, sys.platform)
    tag = f"-cp{version.replace('.', '')}-"
    return "-none-any" in wheel or (tag in wheel and system in wheel and platform.machine().lower() in wheel.lower())


def install(python: str, folder: Path, artifact: Path, **variables: str) -> Path:
    """A virtual environment with the artifact."""
    environment = {**os.environ, **variables}
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", str(artifact)]
    subprocess.run(pip, check=True, env=environment)
    return folder / "bin"


def unpack(python: str, folder: Path, archive: Path) -> Path:
    """The plug-in where Krew would put it, behind a link; this Python is the one that it finds."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "store", filter="data")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "kubectl-proof").symlink_to(Path("..", "store", "kubectl-proof"))
    (programs / "python3").symlink_to(python)
    return programs


def problems(programs: Path, is_compiled: bool | None) -> Iterator[str]:
    """What does not work of what was installed."""
    names = [name for name in ("kubeproof", "kubectl-proof") if (programs / name).exists()]
    for name in names:
        done = ask(programs, name, "verify", EXAMPLE)
        if done.returncode != VIOLATED or "VIOLATED S005" not in done.stdout:
            yield f"{name} verify {EXAMPLE}: {done.returncode} {done.stderr.strip()}"
    name = names[0]
    listed = ask(programs, name, "--help").stdout.partition("Commands:")[2]
    for command in re.findall(r"^  ([a-z][a-z-]*)  ", listed, re.MULTILINE):
        done = ask(programs, name, command, "--help")
        if done.returncode != 0 or "Usage:" not in done.stdout:
            yield f"{name} {command} --help: {done.returncode} {done.stderr.strip()}"
    found = ENGINE.search(ask(programs, name, "doctor").stdout)
    if found is None or (is_compiled is not None and is_compiled != (found[1] == "ok")):
        yield f"the compiled engine is {'not there' if is_compiled else 'there'}"


def ask(programs: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs an installed program in the checkout, which it must not need."""
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(programs), "COLUMNS": "120"}
    return subprocess.run(
        [str(programs / name), *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def check(dist: Path, *, quick: bool) -> int:
    """The exit code, after a line for every way."""
    failures = 0
    for python in [sys.executable] if quick else pythons():
        for way in ways(dist, python, quick=quick):
            begun_s = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                programs = way.install(Path(folder) / "installed")
                installed_s = time.monotonic()
                found = list(problems(programs, way.is_compiled))
            failures += bool(found)
            took = f"install {installed_s - begun_s:.1f} s, run {time.monotonic() - installed_s:.1f} s"
            print(f"{'FAIL' if found else 'ok':4}  Python {version_of(python)}  {way.name:18}  {took}", flush=True)
            for problem in found:
                print(f"      {problem}")
    return 1 if failures else 0


def main() -> int:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description="Check that what was built can be installed.")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--quick", action="store_true", help="only the wheel, under this Python")
    chosen = parser.parse_args()
    return check(chosen.dist.resolve(), quick=chosen.quick)


if __name__ == "__main__":
    sys.exit(main())
