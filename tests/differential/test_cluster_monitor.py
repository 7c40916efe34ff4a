"""What verify finds before the fact, the monitor finds in the log of a cluster that does it; and nothing else."""

import random
from pathlib import Path

import pytest

from kubeproof.cases.library import list_cases, load_case
from kubeproof.manifests.load import load
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.monitor.cluster.audit import changes_of_audit
from kubeproof.monitor.cluster.monitor import ClusterMonitor
from kubeproof.verify.counterexamples.audit_log import _Writer, audit_log
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of, verify
from tests.golden import cases

EXAMPLES = Path(__file__).parents[2] / "examples"
UNSEEN = {"noTrafficToTerminating"}  # no object of the API tells
SLOW = {("c4", "violating"), ("c15", "violating")}  # verifying them takes a while
VIOLATING = [
    pytest.param(case.name, variant.name, marks=[pytest.mark.slow] if (case.name, variant.name) in SLOW else [])
    for case in list_cases()
    for variant in case.variants
    if variant.name.startswith("violating")
]
GOLDEN = [name for name in cases.case_names() if cases.expected(name).get("verdict") == "VIOLATED"]
# Safe variants without a deploying phase: a walk begins where the Scenario does.
SAFE = [("c1", "safe"), ("c3", "safe"), ("c5", "safe"), ("c7", "safe"), ("c8", "safe"), ("c9", "safe"), ("c11", "safe")]


def alarms_of(texts, lines):
    return list(ClusterMonitor(texts).feed(changes_of_audit(lines, "audit.log")))


def raised(result, options):
    """Per violated intent: the verdicts that its own counterexample raises in the monitor."""
    found = {}
    for one in result.results:
        if one.verdict == "VIOLATED" and one.trace is not None:
            lines = audit_log(rerun(result.inputs, one, options), one)
            alarms = [alarm for alarm in alarms_of(result.inputs, lines) if alarm.rule == one.intent]
            found[one.intent, one.key] = {alarm.verdict for alarm in alarms}
            assert all(alarm.about == one.target for alarm in alarms if one.target)
    return found


def expected(found):
    return {(intent, key): {"UNKNOWN"} if key in UNSEEN else {"VIOLATED"} for intent, key in found}


@pytest.mark.parametrize(("case", "variant"), VIOLATING)
def test_the_violation_of_a_case_is_raised_from_its_audit_log(case, variant):
    found = raised(verify(load(load_case(case, variant))), VerifyOptions())

    assert found == expected(found) != {}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_violations_of_a_golden_case_are_raised_from_their_audit_logs(name):
    found = raised(cases.run(name, "auto"), cases.options(name, "auto"))

    assert found == expected(found) != {}


@pytest.mark.parametrize("name", ["02-one-node-fails", "04-scale-down-breaks-spread"])
def test_a_log_and_the_scenario_are_enough(name):
    """The objects of the log can be read without the manifests."""
    result = verify(load([str(EXAMPLES / name)]))
    scenario = [(file, text) for file, text in result.inputs if file.endswith("scenario.yaml")]

    violated = [one for one in result.results if one.trace is not None]
    assert violated
    for one in violated:
        lines = audit_log(rerun(result.inputs, one, VerifyOptions()), one)
        alarms = [alarm for alarm in alarms_of(scenario, lines) if alarm.rule == one.intent]

        assert {alarm.verdict for alarm in alarms} == {"VIOLATED"}


def walk(loaded, seed, steps):
    """A random run of the model as an audit log."""
    model = RepresentativeModel(plan_of(loaded, VerifyOptions()))
    (state,) = model.initial()
    choose, writer = random.Random(seed).choice, _Writer(model, state)
    lines = list(writer.first())
    for _ in range(steps):
        offered = model.steps(state)
        if not offered:
            break
        step = choose(offered)
        lines += writer.step(state, step)
        state = step.target
    return lines


@pytest.mark.parametrize(("case", "variant"), SAFE)
def test_runs_of_a_cluster_in_which_everything_holds_raise_nothing(case, variant):
    loaded = load(load_case(case, variant))

    for seed in range(4):
        assert alarms_of(loaded.texts, walk(loaded, seed, 60)) == []
