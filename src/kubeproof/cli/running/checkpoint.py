"""Verifications that are kept in a directory, and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kubeproof.cli.running.endings import say
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.cli.running.progress import ProgressLine
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.stop import Stop
    from kubeproof.verify.findings.known import Found
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult


def check_checkpoint(checkpoint: str | None, resume: bool) -> None:
    """Refuses --resume without a directory to resume from."""
    if resume and checkpoint is None:
        raise UsageError("--resume needs a run to continue", "Name its directory with --checkpoint DIR.")


def run_kept(
    loaded: Loaded,
    options: VerifyOptions,
    line: ProgressLine | None,
    checkpoint: str,
    resume: bool,
    *,
    stop: Stop,
    found: Found | None,
) -> VerifyResult:
    """Verifies one size, kept in the directory."""
    from pathlib import Path

    from kubeproof.verify.journal.verification import verify_kept

    with tell_on_interrupt(checkpoint):
        kept = verify_kept(
            loaded, options, directory=Path(checkpoint), resume=resume, progress=line, stop=stop, found=found
        )
    if line is not None:
        line.close()
    for problem in kept.problems:
        say(f"warning: no snapshot was written: {problem}")
    if not kept.is_final:
        tell_how_to_resume(checkpoint)
    return kept.result


@contextmanager
def tell_on_interrupt(checkpoint: str) -> Iterator[None]:
    """Says after an interrupt that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        tell_how_to_resume(checkpoint)
        raise


def tell_how_to_resume(checkpoint: str) -> None:
    """Says that nothing is lost."""
    say(f"checkpoint written to {checkpoint}: repeat the command with --resume to continue")
