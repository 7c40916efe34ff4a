"""From a loaded input to the plan that is searched."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.errors import NothingToCheckError
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import OwnLoop, Plan, make_plan
from kubeproof.verify.options import SYMMETRY, VerifyOptions


def plan_of(loaded: Loaded, options: VerifyOptions) -> Plan:
    """The plan that a loaded input stands for."""
    scenario = loaded.scenario
    if not loaded.setup.workloads and not any(isinstance(event, Apply) for event in scenario.events):
        left_aside = "".join(f"; {o.what} is {o.why} ({o.source})" for o in loaded.omissions[:3])
        remedy = "Name files with a Deployment, StatefulSet, Job or other workload."
        raise NothingToCheckError(f"E301 the input holds no workload{left_aside}. {remedy}")
    if not scenario.intents and scenario.levels:
        raise NothingToCheckError("E301 the Scenario has service levels alone, which are measured: kubeproof simulate.")
    if not scenario.intents:
        raise NothingToCheckError("E301 the Scenario has no intents. List at least one under spec.intents.")
    return plan_input(loaded, options)


def plan_input(loaded: Loaded, options: VerifyOptions) -> Plan:
    """The plan of an input that has something to check."""
    scenario = loaded.scenario
    return make_plan(
        loaded.setup,
        scenario.events,
        scenario.intents,
        placement=scenario.start.placement,
        running=scenario.start.pods,
        own=_own_loops(options.controllers),
        merge=options.uses(SYMMETRY),
        checked=options.check_controllers or None,
    )


def _own_loops(references: Sequence[str]) -> tuple[OwnLoop, ...]:
    """The user's own controllers."""
    if not references:
        return ()
    from kubeproof.verify.own_controllers import load_own

    return tuple(load_own(reference) for reference in references)
