"""Options of the survival matrix, and how `verify` runs it where the input has no Scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.cli.running.progress import ProgressLine
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.stop import Stop
    from kubeproof.verify.findings.known import Found
    from kubeproof.verify.matrix.options import MatrixOptions
    from kubeproof.verify.matrix.run import MatrixProgress
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult
    from kubeproof.verify.scaling.plan import SweepOptions

GRADES = ("dips", "steady")


class Asked(NamedTuple):
    """What the flags say about the matrix."""

    faults: tuple[str, ...] = ()
    grade: str = "dips"
    pairs: bool = True

    @classmethod
    def of(cls, given: dict[str, Any]) -> Asked:
        """What the command was given: each field is an option of the same name."""
        return cls(**{name: given[name] for name in cls._fields})

    def words(self) -> list[str]:
        """The flags as a user types them."""
        words = ["--faults", ",".join(self.faults)] if self.faults else []
        words += ["--grade", self.grade] if self.grade != "dips" else []
        return words if self.pairs else [*words, "--no-pairs"]


def name_setting(field: str) -> str:
    """The key of an option in a settings file: `max_pairs` is `maxPairs`."""
    first, *rest = field.split("_")
    return first + "".join(word.capitalize() for word in rest)


def parse_faults(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """The faults named, with commas between them."""
    keys = tuple(dict.fromkeys(key for key in value.split(",") if key))
    if keys:
        from kubeproof.manifests.scenarios.matrix_columns import BY_KEY
        from kubeproof.manifests.yaml.fields import suggestion

        for key in keys:
            if key not in BY_KEY:
                told = f"{key!r} is no fault. {suggestion(key, tuple(BY_KEY))}"
                raise click.BadParameter(f"{told}; all: {', '.join(BY_KEY)}", ctx, param)
    return keys


def matrix_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options that only an input without a Scenario has."""
    for option in (
        click.option(
            "--pairs/--no-pairs", default=True, envvar="KUBEPROOF_PAIRS",
            help="Without a Scenario: look at pairs of faults, too, as far as time allows (default).",
        ),
        click.option(
            "--grade", type=click.Choice(GRADES), default="dips", envvar="KUBEPROOF_GRADE", show_default=True,
            help="Without a Scenario: the least grade of a cell; what is worse ends with exit code 1.",
        ),
        click.option(
            "--faults", default="", callback=parse_faults, envvar="KUBEPROOF_FAULTS", metavar="NAMES",
            help="Without a Scenario: only these faults, with commas between them, such as rollout,drain,nodeLoss.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def run_surveyed(
    loaded: Loaded,
    options: VerifyOptions,
    asked: Asked,
    chosen: SweepOptions,
    line: ProgressLine | None,
    checkpoint: str | None,
    resume: bool,
    *,
    stop: Stop,
    found: Found | None,
) -> VerifyResult:
    """The matrix, kept in a directory if one is named."""
    from kubeproof.verify.matrix.options import MatrixOptions
    from kubeproof.verify.matrix.result import Grade
    from kubeproof.verify.matrix.run import run_matrix

    told = asked._asdict()
    options_of = MatrixOptions(least_grade=Grade(told.pop("grade")), executor=chosen.executor, **told)
    progress = None if line is None else _Told(line)
    if checkpoint is None:
        return run_matrix(loaded, options, options_of, progress=progress, stop=stop, found=found)
    return _keep(loaded, options, options_of, progress, checkpoint, resume, stop=stop, found=found)


def _keep(
    loaded: Loaded,
    options: VerifyOptions,
    chosen: MatrixOptions,
    progress: _Told | None,
    checkpoint: str,
    resume: bool,
    *,
    stop: Stop,
    found: Found | None,
) -> VerifyResult:
    from kubeproof.cli.running.checkpoint import tell_how_to_resume, tell_on_interrupt
    from kubeproof.verify.matrix.checkpoint import matrix_journal
    from kubeproof.verify.matrix.run import run_matrix

    with tell_on_interrupt(checkpoint), matrix_journal(checkpoint, loaded, options, chosen, resume=resume) as journal:
        result = run_matrix(loaded, options, chosen, journal=journal, progress=progress, stop=stop, found=found)
    if result.statistics.is_interrupted:
        tell_how_to_resume(checkpoint)
    return result


class _Told:
    """The progress of a matrix on a line."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line

    def __call__(self, progress: MatrixProgress) -> None:
        self._line.show_simulated(progress.elapsed_s, lambda: describe(progress))


def describe(progress: MatrixProgress) -> str:
    """The progress of a matrix in words."""
    grades = ", ".join(f"{number} {grade}" for grade, number in progress.grades if number)
    parts = [f"{progress.phase}: {progress.done:,}/{progress.total:,} cells", grades, progress.current]
    return ", ".join(part for part in (*parts, f"{progress.elapsed_s:.1f} s") if part)
