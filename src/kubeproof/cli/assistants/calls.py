"""One call of a tool is one process of kubeproof, on a copy of the files, with limits on time and memory.

It ends with the call, however that ends: cancelled by the client, out of time, or because the client has gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from kubeproof.cli.assistants.fenced_files import Copied, Fence, copy, write_given
from kubeproof.cli.running.endings import INCONCLUSIVE, OK, VIOLATED
from kubeproof.values import dataclass

ANSWERED = (OK, VIOLATED, INCONCLUSIVE)
GRACE_S = 10.0  # beyond its own limit, for reading and reporting
BESIDE_MIB = 1_024  # of address space beside what a search may hold: the interpreter, libraries, a report
MOST_SAID = 16_384
WHAT_IF, CHANGE = "what-if", "change.yaml"  # files of it are told by options; what would be applied is one of them
SETTINGS, RESULT, REPORT = "settings.yaml", "result.json", "report.txt"
_KEPT = ("PYTHONPATH", "SYSTEMROOT", "LD_LIBRARY_PATH")

Tell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may take at most."""

    timeout_s: float = 120.0
    memory_mib: int = 2_048


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its code, what it printed, its result as JSON if it wrote one, what it complained about."""

    code: int
    report: str
    result: dict[str, Any]
    said: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A command: its words, then the files of the client, of which `given` came as texts."""

    words: tuple[str, ...]
    paths: tuple[str, ...] = ()
    given: tuple[tuple[str, str], ...] = ()
    has_settings: bool = False  # it looks for a settings file, and gets an empty one
    subjects: tuple[str, ...] = ()  # what it is about, where files are told by options

    def complete(self, scratch: Path, files: Sequence[str]) -> list[str]:
        """All words: where results go, and files last, where nothing is an option any more."""
        if not files:
            return [*self.words]
        settings = [f"--config={scratch / SETTINGS}"] if self.has_settings else []
        words = [*self.words, *settings, "-o", "text", "-o", f"json={scratch / RESULT}"]
        if self.words[0] != WHAT_IF:
            return [*words, "--", *files]
        return [*words, *(self._name(file) for file in files), "--", *self.subjects]

    def _name(self, file: str) -> str:
        """The option for a file: what is applied, or what there is."""
        return f"--file={file}" if file.endswith(f"/{CHANGE}") else f"--on={file}"


async def run(call: Call, fence: Fence, limits: CallLimits, tell: Tell) -> Ended | None:
    """The end of the command; None if it took longer than it may."""
    with tempfile.TemporaryDirectory(prefix="kubeproof-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        work = scratch / "work"
        work.mkdir()
        (scratch / SETTINGS).write_text("{}\n", encoding="utf-8")
        copied = await anyio.to_thread.run_sync(lambda: copy(fence, call.paths, work))
        given = [write_given(text, name, work) for name, text in call.given]
        words = call.complete(scratch, [*copied.paths, *given])
        code, said = await _run_process(words, scratch, limits, tell, is_rendering=fence.takes_all)
        return None if code is None else _ended(code, said, scratch, copied)


def _ended(code: int, said: str, scratch: Path, copied: Copied) -> Ended:
    written = scratch / RESULT
    result: dict[str, Any] = {}
    if written.exists():
        with suppress(ValueError):
            result = json.loads(written.read_text(encoding="utf-8"))
    report = (scratch / REPORT).read_text(encoding="utf-8", errors="replace")
    return Ended(code, report, result, said, copied.left_out)


async def _run_process(
    words: Sequence[str], scratch: Path, limits: CallLimits, tell: Tell, *, is_rendering: bool
) -> tuple[int | None, str]:
    """Exit code and what went to stderr; every line of that is told while the process runs."""
    command = [sys.executable, "-P", "-m", "kubeproof.cli.assistants.confined", str(limits.memory_mib + BESIDE_MIB)]
    with (scratch / REPORT).open("wb") as report:
        process = await anyio.open_process(
            [*command, *words],
            cwd=scratch / "work",
            env=_environment(scratch, is_rendering),
            stdin=subprocess.DEVNULL,
            stdout=report,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            with anyio.move_on_after(limits.timeout_s + GRACE_S):
                said = await _listen(process, tell)
                return await process.wait(), said
            return None, ""
        finally:
            with anyio.CancelScope(shield=True):
                _kill(process)
                await process.aclose()


def _environment(scratch: Path, is_rendering: bool) -> dict[str, str]:
    """Nothing of the user's settings; helm and kustomize are found only where the user allowed them."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.environ.get("PATH", "") if is_rendering else ""
    return {**kept, "PATH": path, "HOME": str(scratch), "TMPDIR": str(scratch), "LANG": "C.UTF-8", "NO_COLOR": "1"}


async def _listen(process: Process, tell: Tell) -> str:
    """The end of what the process writes to stderr."""
    said, line = b"", b""
    assert process.stderr is not None
    async for chunk in process.stderr:
        said = (said + chunk)[-MOST_SAID:]
        *lines, line = (line + chunk)[-MOST_SAID:].split(b"\n")
        for one in lines:
            await tell(one.decode("utf-8", "replace").strip())
    return said.decode("utf-8", "replace").strip()


def _kill(process: Process) -> None:
    """Ends the process and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
