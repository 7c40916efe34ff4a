"""Pods that name their node: how many others there are decides nothing, and what fits on one node can be counted up.

Nothing happens to nodes, and no loop compares them or moves pods. So the other nodes stay as they are, and the runs are
the same with one more of them. Sizes of the workload are searched one by one, as many as the node has room for.
"""

from __future__ import annotations

from kubeproof.controllers.loops import may_reach_all
from kubeproof.manifests.loaded import Loaded
from kubeproof.values import replace
from kubeproof.verdicts import Verdict
from kubeproof.verify.no_placement import NoPlacement
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size.family import Family
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify_intents
from kubeproof.verify.scaling.setups import why_trivial

MOST_PODS = 40  # sizes that are searched
MOST_STATES = 20_000  # of each search


def names_a_node(family: Family) -> bool:
    """True if all pods run on one node that is always there, and nothing else is in the input."""
    setup, scenario = family.loaded.setup, family.loaded.scenario
    names = dict(zip(family.kinds, family.box.nodes, strict=True))
    steered = setup.autoscalers or setup.descheduler or setup.budgets or setup.settings.gitops_interval_s
    is_alone = len(setup.workloads) == 1 and not scenario.events and not steered and not may_reach_all(setup)
    return is_alone and names.get(family.target.template.node_name or "", 0) > 0


def count_up(family: Family, options: VerifyOptions) -> dict[str, int]:
    """By name of the intent the most replicas up to which every size holds, one by one."""
    found = {intent.name: family.box.least - 1 for intent in family.loaded.scenario.intents}
    open_ = set(found)
    bound = MOST_PODS if family.box.most is None else min(family.box.most, MOST_PODS)
    for pods in range(family.box.least, bound + 1):
        sized = [family.at(pods, family.box.nodes), family.at(pods, tuple(count + 1 for count in family.box.nodes))]
        if any(map(why_trivial, sized)):
            break
        answers = [_ask(one, options) for one in sized]
        if answers[0] is None or None in answers or len({_numbers(one) for one in answers}) > 1:
            break
        open_ &= {one.intent for one in answers[0].results if one.verdict in (Verdict.HOLDS, Verdict.VACUOUS)}
        if not open_:
            break
        found |= dict.fromkeys(open_, pods)
    return {name: most for name, most in found.items() if most >= family.box.least}


def _ask(loaded: Loaded, options: VerifyOptions) -> VerifyResult | None:
    try:
        return verify_intents(loaded, replace(options, max_states=MOST_STATES))
    except NoPlacement:
        return None


def _numbers(result: VerifyResult | None) -> tuple[object, ...]:
    """What two searches of systems that are the same have in common."""
    if result is None:
        return ()
    verdicts = tuple(one.verdict for one in result.results)
    return (verdicts, result.statistics.states, result.statistics.transitions, result.statistics.depth)
