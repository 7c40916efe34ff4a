"""The guards of slices, shares and proofs by sizes, each with the cluster that misses it."""

from __future__ import annotations

from tests.differential.guards.switching import Guard

PARTS: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
    (
        Guard("verify/proofs/bounds.py", "_always_fits", "all((is_even(layout, scheduler, one) for one in hard))"),
        "the spread counts pods of others",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "_always_fits", "everywhere"),
        "a node without pods counts for the spread",
        False,
    ),
    (
        Guard(
            "verify/proofs/bounds.py",
            "_always_fits",
            "hard and (not (everywhere and all((is_even(layout, scheduler, one) for one in hard))))",
        ),
        "a node without pods counts for the spread",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "_always_fits", "scheduler.kernel.compares_nodes_by - {SPREAD}"),
        "pods keep apart by rack",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "_has_room", "_always_fits(plan.layout, schedulers[0], most)"),
        "a node without pods counts for the spread",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "_is_bounded", "not is_left_alone(plan, fact.workload)"),
        "a taint evicts pods",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "is_even", "constraint.counted != {scheduler.workload}"),
        "the spread counts pods of others",
        False,
    ),
    (Guard("verify/proofs/bounds.py", "is_even", "not constraint.one_node_each"), "a profile spreads pods", False),
    (
        Guard(
            "verify/proofs/bounds.py",
            "prove_by_bounds",
            "_is_bounded(plan, monitor, starts) or _has_room(plan, monitor, starts)",
        ),
        "a taint evicts pods",
        False,
    ),
    (
        Guard("verify/proofs/bounds.py", "prove_by_bounds", "_is_guarded(plan, monitor, starts)"),
        "the budget asks for less than the intent",
        False,
    ),
    (
        Guard("verify/proofs/coarser.py", "proofs", "finding.verdict == Verdict.HOLDS"),
        "an autoscaler asks for more",
        False,
    ),
    (
        Guard("verify/proofs/guarded.py", "healthy_demanded", "select_by(plan.setup, budgets[0]) != (workload,)"),
        "the budget counts pods of others",
        False,
    ),
    (
        Guard("verify/proofs/guarded.py", "is_guarded", "fact.amount.of(size) > min(demanded, size)"),
        "the budget asks for less than the intent",
        False,
    ),
    (
        Guard("verify/proofs/guarded.py", "only_budgets_decide", "told"),
        "a pod is preempted in spite of its budget",
        False,
    ),
    (
        Guard("verify/proofs/sizes.py", "_at_start", "(yield from pods_at_start(plan, number, starts))"),
        "there are too many pods at first",
        False,
    ),
    (
        Guard(
            "verify/proofs/sizes.py",
            "_list_written",
            "(yield from actor.sizes_for(number))",
        ),
        "an autoscaler asks for more",
        False,
    ),
    (
        Guard("verify/proofs/sizes.py", "is_left_alone", "not is_evicted_by_taints(plan, number)"),
        "a taint evicts pods",
        False,
    ),
    (
        Guard(
            "verify/proofs/sizes.py",
            "only_sizes_decide",
            "all((footprint_of(event).writes in ON_OBJECTS for event in plan.events))",
        ),
        "a node is closed",
        False,
    ),
    (
        Guard("verify/proofs/sizes.py", "only_sizes_decide", "told"),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_find_entanglement",
            "any((_counts_all(intent) for intent in scenario.intents))",
        ),
        "an intent counts pods of all",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_find_reason_whole", "(reason := _find_entanglement(loaded))"),
        "an intent counts pods of all",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_find_reason_whole", "any((event.hits_several for event in events))"),
        "nodes of two parts fail in one moment",
        False,
    ),
    (Guard("verify/proofs/slicing.py", "_may_run_on", "is_open"), "a pod is preempted below its size", False),
    (Guard("verify/proofs/slicing.py", "_may_run_on", "is_wanted"), "a pod is preempted below its size", False),
    (
        Guard("verify/proofs/slicing.py", "_may_run_on", "not is_switched_on(setup, template, NODE_AFFINITY)"),
        "a scheduler ignores node affinity",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_may_run_on", "not is_switched_on(setup, template, TAINT_TOLERATION)"),
        "a scheduler ignores taints",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relations",
            "(yield from _selecting(loaded.setup, forms, is_swayed=is_swayed))",
        ),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relations", "(yield from _sharing_nodes(loaded, forms))"),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relate",
            "(yield tuple((ref for ref, workloads in forms.items() if any((_uses(w, claim) for w in workloads)))))",
        ),
        "a claim relates those that mount it",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relate",
            "(yield tuple((ref for ref, workloads in forms.items() if any((is_meant(quota, w) for w in workloads)))))",
        ),
        "a quota relates those that it charges",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relate",
            "(yield tuple((ref for ref, workloads in forms.items() if any((w.namespace == "
            "budget.namespace and budget.selector and budget.selector.matches(dict(w.template.labels)) "
            "for w in workloads)))))",
        ),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relate", "(yield tuple(_read_by(loaded, intent)))"),
        "an intent relates those that it selects",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_selecting", "(yield (one, other))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_selecting", "any((s.matches(pod) for s in far))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_sharing_nodes",
            "(yield tuple((ref for ref, workloads in forms.items() if node.name in placed.get(ref, ()) "
            "or any((_may_run_on(loaded.setup, w, node) for w in workloads)))))",
        ),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py", "_sharing_nodes", "any((_may_run_on(loaded.setup, w, node) for w in workloads))"
        ),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_sharing_nodes", "node.name in placed.get(ref, ())"),
        "a pod begins where it would not go",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_sharing_nodes", "placed.setdefault(ref, set()).add(name)"),
        "a pod begins where it would not go",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py", "_term_selectors", "(yield from (term.selector for term in affinity.required))"
        ),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_term_selectors", "(yield from of(template.pod_anti_affinity))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "cut", "(reason := _find_reason_whole(loaded))"),
        "an intent counts pods of all",
        False,
    ),
    (Guard("verify/proofs/slicing.py", "cut", "groups.join(related)"), "a pod is preempted below its size", False),
    (
        Guard("verify/proofs/slicing.py", "cut_by_relations", "not Room(loaded).is_never_short"),
        "a pod of higher priority takes the room",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_selecting", "_is_spread_hard(setup, w)"),
        "a spread constraint counts pods of others",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relate", "(yield from _sharing_volumes(loaded.setup, forms))"),
        "claims want the same volume",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relate", "(yield from _sharing_claims_of_ordinals(forms))"),
        "the claim of an ordinal is mounted by others",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relate", "(yield from _sharing_ports(loaded.setup, forms))"),
        "room where a port is taken is none",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "cut_by_relations", "heals_without_end(loaded)"),
        "an autoscaler and a reconciler write in turn",
        True,
    ),
)
