"""`kubeproof replay`: re-executes the counterexamples of a saved result, step by step."""

from __future__ import annotations

from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.rerun import Rerun, rerun
from kubeproof.verify.counterexamples.traces import describe_steps, with_letters
from kubeproof.verify.findings.saved import no_result, read_saved
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, ReplayReport, Trace


def replay_file(path: str, intent: str | None = None, controllers: tuple[str, ...] = ()) -> ReplayReport:
    """Replays the first counterexample in a saved JSON result, or that of the intent named.

    Own controllers must be named again: a result file never decides which code runs.
    """
    saved = read_saved(path)
    one = saved.choose(intent)
    try:
        return report_of(rerun(saved.result.inputs, one, VerifyOptions(controllers=controllers)), one)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise no_result(path, error) from error


def report_of(again: Rerun, one: IntentResult) -> ReplayReport:
    """What a re-executed counterexample shows, told anew."""
    trace = one.trace or Trace(())
    model, run = again.model, again.run
    before = describe_steps(model, again.deploying.states, again.deploying.steps, 0)
    steps = describe_steps(model, run.states, run.steps, before[-1].time_s if before else 0)
    temporal = model.plan.monitors[again.monitor_number].temporal
    first: tuple[str, ...] = ()
    if temporal is not None:
        first, steps = with_letters(model, run.states, run.steps, temporal, steps)
    return ReplayReport(
        scenario=again.loaded.scenario.name,
        intent=one.intent,
        steps=(*before, *steps),
        loop_start=trace.loop_start,
        verdict=Verdict.VIOLATED,
        detail="every step was possible when it was taken, and the run breaks the intent",
        final=trace.final,
        deployed_steps=trace.deployed_steps,
        propositions=temporal.names if temporal is not None else (),
        begins_with=first,
    )
