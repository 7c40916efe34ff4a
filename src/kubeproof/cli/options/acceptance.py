"""Options about what a project accepts: exemptions, baselines, severities, and how that ends the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from kubeproof.cli.running.endings import first_of, say, tell_ending
from kubeproof.errors import EnvironmentProblem
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.result import VerifyResult

SEVERITIES = ("info", "warning", "error")  # from the least
EXEMPTIONS = "kubeproof.exemptions"  # in a context's `meta`: the settings file that holds some

baseline_option = click.option(
    "--baseline", metavar="FILE", envvar="KUBEPROOF_BASELINE", help="Accept the violations that this file lists.",
)  # fmt: skip
write_baseline_option = click.option(
    "--write-baseline", metavar="FILE", help="Write the violations found to this file, for --baseline.",
)  # fmt: skip
fail_on_option = click.option(
    "--fail-on", type=click.Choice(SEVERITIES), default="info", envvar="KUBEPROOF_FAIL_ON", show_default=True,
    help="Least severity of a violated intent that ends with exit code 1.",
)  # fmt: skip
soft_fail_option = click.option(
    "--soft-fail/--no-soft-fail", default=False, envvar="KUBEPROOF_SOFT_FAIL",
    help="End with 0 whatever the verdicts are; input that cannot be verified still fails.",
)  # fmt: skip


class Acceptance(NamedTuple):
    """What the flags and the settings file accept."""

    settings: str | None = None  # file with exemptions
    baseline: str | None = None
    write_baseline: str | None = None
    fail_on: str = "info"
    soft_fail: bool = False


def acceptance_options(command: Callable[..., int]) -> Callable[..., int]:
    """All of the options, in the order in which help shows them."""
    for option in (soft_fail_option, fail_on_option, write_baseline_option, baseline_option):
        command = option(command)
    return command


def accept_violations(result: VerifyResult, loaded: Loaded, acceptance: Acceptance) -> VerifyResult:
    """The result in which accepted violations are SUPPRESSED; nothing is imported if nothing is accepted."""
    if not loaded.ignores and acceptance.settings is None and acceptance.baseline is None:
        return result
    from datetime import date

    from kubeproof.manifests.settings.exemptions import read_exemptions
    from kubeproof.verify.checks.catalogue import check_id
    from kubeproof.verify.findings.baseline import read_baseline
    from kubeproof.verify.findings.suppress import suppress

    exemptions = read_exemptions(acceptance.settings, check_id) if acceptance.settings else ()
    baseline = read_baseline(acceptance.baseline) if acceptance.baseline else ()
    return suppress(result, ignores=loaded.ignores, exemptions=exemptions, baseline=baseline, today=date.today())


def check_accepted(acceptance: Acceptance) -> None:
    """Files that cannot be used are told before a search, not after it."""
    if acceptance.settings:
        from kubeproof.manifests.settings.exemptions import read_exemptions
        from kubeproof.verify.checks.catalogue import check_id

        read_exemptions(acceptance.settings, check_id)
    if acceptance.baseline:
        from kubeproof.verify.findings.baseline import read_baseline

        read_baseline(acceptance.baseline)


def write_baseline(result: VerifyResult, acceptance: Acceptance, code: int, *, quiet: bool) -> int:
    """Writes the file of --write-baseline, and says so; the exit code, which is another if that fails."""
    if acceptance.write_baseline is None:
        return code
    from kubeproof.cli.options.outputs import write_file
    from kubeproof.verify.findings.baseline import baseline_text

    text = baseline_text(result)
    try:
        write_file(acceptance.write_baseline, text)
    except EnvironmentProblem as problem:
        return first_of((code, tell_ending(problem)))
    if not quiet:
        number = text.count('"fingerprint"')
        say(f"{number} violation(s) written to {acceptance.write_baseline}")
    return code


def soften(code: int, result: VerifyResult, acceptance: Acceptance) -> int:
    """The exit code, after severities below --fail-on and --soft-fail."""
    from kubeproof.cli.running.reports import is_refused

    if code == 1:
        least = SEVERITIES.index(acceptance.fail_on)
        violated = [one.severity for one in result.results if one.verdict == Verdict.VIOLATED and one.is_decisive]
        violated += ["error"] if is_refused(result) else []
        if all(SEVERITIES.index(severity) < least for severity in violated):
            code = _without_violations(result)
    return 0 if acceptance.soft_fail and code in (1, 3) else code


def _without_violations(result: VerifyResult) -> int:
    """What the other verdicts end with."""
    from dataclasses import replace

    from kubeproof.cli.running.reports import exit_code
    from kubeproof.verify.scaling.result import Skipped

    others = tuple(one for one in result.results if one.verdict != Verdict.VIOLATED)
    code = exit_code(replace(result, results=others, checks=())) if others else 0
    if result.statistics.is_interrupted:
        return code or 130
    ended_early = result.sweep is not None and result.sweep.count(Skipped.NOT_TRIED) > 0
    return 3 if code == 0 and others and ended_early else code  # others were not looked at beyond the violated size
