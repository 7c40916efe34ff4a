"""The guards that are removed one by one, each with the cluster that misses it."""

from __future__ import annotations

from tests.differential.guards.mutants_pods import POD_BY_POD
from tests.differential.guards.switching import Guard

MUTANTS: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
    (
        Guard("model/reductions/persistent_steps.py", "find_taken_alone", "number in seen"),
        "somebody scales before the first sync",
        False,
    ),
    (
        Guard("cluster/nodes/near_nodes.py", "agree", "any((other != first for other in others))"),
        "a node is a little too small",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/framework.py",
            "_best",
            "any((known[index].slack for index in chosen)) and sum((nodes[index].count for index in chosen)) > 1",
        ),
        "a node scores a little less",
        False,
    ),
    (
        Guard("model/layout.py", "_is_unique", "len(values) == len(set(values))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("model/layout.py", "_label_facts", "(key, value) not in found.values"),
        "a budget relates those that it guards",
        False,
    ),
    (Guard("model/layout.py", "_label_facts", "(yield (key, value))"), "a budget relates those that it guards", False),
    (Guard("model/layout.py", "_label_facts", "key in unique or key == without"), "a profile spreads pods", False),
    (Guard("model/layout.py", "_label_facts", "key not in found.numeric_keys"), "a volume is in a zone", False),
    (Guard("model/layout.py", "_label_facts", "key not in found.numeric_keys", 1), "a term compares numbers", False),
    (Guard("model/layout.py", "_label_facts", "key not in found.topology"), "a profile spreads pods", False),
    (Guard("model/layout.py", "_label_facts", "unread"), "a term compares numbers", False),
    (
        Guard(
            "events/event.py",
            "mention",
            "mention_requirements(found, self.selector.requirements if self.selector else ())",
        ),
        "an event chooses nodes by label",
        False,
    ),
    (
        Guard("events/event.py", "mention", "found.names |= set(self.names or ())"),
        "an event chooses nodes by name",
        False,
    ),
    (
        Guard("events/event.py", "mention_nodes", "choice.mention(found)"),
        "an event chooses nodes by label",
        False,
    ),
    (
        Guard("cluster/loops/mentions.py", "mention_requirements", "found.keys.add(requirement.key)"),
        "room that a profile refuses is none",
        False,
    ),
    (
        Guard("cluster/loops/mentions.py", "mention_requirements", "found.numeric_keys.add(requirement.key)"),
        "a term compares numbers",
        False,
    ),
    (
        Guard(
            "cluster/loops/mentions.py",
            "mention_requirements",
            "found.values |= {(requirement.key, value) for value in requirement.values}",
        ),
        "a term asks for a value",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "_mention_template",
            "mention_terms(found, (preferred.term for preferred in template.preferred_terms))",
        ),
        "pods prefer a label",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "_mention_template",
            "mention_terms(found, template.required_terms or ())",
        ),
        "a term asks for a value",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "_mention_template",
            "found.topology |= template.pod_affinity.topology_keys | template.pod_anti_affinity.topology_keys",
        ),
        "pods keep apart by rack and row",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "_mention_template",
            "found.topology |= {constraint.topology_key for constraint in template.spread}",
        ),
        "pods spread over racks",
        False,
    ),
    (
        Guard("controllers/scheduler/mentions.py", "_mention_template", "found.values |= set(template.node_selector)"),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("cluster/loops/mentions.py", "mention_terms", "mention_requirements(found, term.expressions)"),
        "room that a profile refuses is none",
        False,
    ),
    (
        Guard(
            "cluster/loops/mentions.py",
            "mention_terms",
            "found.names |= {value for requirement in term.fields for value in requirement.values}",
        ),
        "a term asks for a name",
        False,
    ),
    (
        Guard("controllers/scheduler/mentions.py", "mention_volumes", "mention_terms(found, volume.terms or ())"),
        "a volume is reached by label",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py", "mention_volumes", "found.numeric_keys |= storage_class.labels_read"
        ),
        "a class provisions for some nodes",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "mention_volumes",
            "found.numeric_keys |= {name for key, _ in volume.labels if key in ZONE_LABELS for name in ZONE_LABELS}",
        ),
        "a volume is in a zone",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "resources_read",
            "found |= {n for container in (*template.containers, *template.init_containers) for n, _ in "
            "container.others}",
        ),
        "a container asks for a resource of its own",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py", "resources_read", "found |= {name for name, _ in template.overhead}"
        ),
        "a pod's overhead is a resource of its own",
        False,
    ),
    (Guard("model/layout.py", "_signature", "labels"), "a budget relates those that it guards", False),
    (Guard("model/layout.py", "_signature", "n in kept"), "a container asks for a resource of its own", False),
    (Guard("model/layout.py", "_signature", "name"), "a term asks for a name", False),
    (Guard("model/layout.py", "_signature", "node.cpu_milli"), "a node has less CPU", False),
    (Guard("model/layout.py", "_signature", "node.memory_bytes"), "a node has less memory", False),
    (Guard("model/layout.py", "_signature", "node.pods"), "a node takes no pods", False),
    (Guard("model/layout.py", "_signature", "node.taints"), "a scheduler ignores taints", False),
    (Guard("model/layout.py", "_signature", "others"), "a container asks for a resource of its own", False),
    (Guard("model/layout.py", "_signature", "resources"), "a node has less CPU", False),
    (Guard("model/layout.py", "mention_event", "event.mention_nodes(found)"), "an event chooses nodes by label", False),
    (
        Guard(
            "intents/predicates/asked.py",
            "mention_nodes",
            "mention_requirements(found, intent.nodes.requirements if intent.nodes else ())",
        ),
        "an intent allows nodes by label",
        False,
    ),
    (
        Guard("controllers/scheduler/mentions.py", "mention_scheduling", "_mention_template(found, workload.template)"),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "mention_scheduling",
            "mention_terms(found, profile.added_affinity or ())",
        ),
        "room that a profile refuses is none",
        False,
    ),
    (
        Guard("controllers/scheduler/mentions.py", "mention_scheduling", "mention_volumes(found, setup)"),
        "a volume is reached by label",
        False,
    ),
    (
        Guard("intents/predicates/asked.py", "mention_nodes", "found.names |= set(intent.node_names or ())"),
        "an intent allows nodes by name",
        False,
    ),
    (
        Guard(
            "controllers/scheduler/mentions.py",
            "mention_scheduling",
            "found.topology |= {constraint.topology_key for constraint in profile.default_spread or ()}",
        ),
        "a profile spreads pods",
        False,
    ),
    (
        Guard("intents/predicates/asked.py", "mention_nodes", "found.topology |= {intent.topology_key} - {''}"),
        "an intent compares racks",
        False,
    ),
    (
        Guard(
            "model/reductions/starts_in_unison.py",
            "check_untouched",
            "isinstance(action, Delete) and action.workload in waiting",
        ),
        "pods are deleted while some start",
        False,
    ),
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
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((_uses(w, claim) for w in workloads)))))",
        ),
        "a claim relates those that mount it",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((is_meant(quota, w) for w in workloads)))))",
        ),
        "a quota relates those that it charges",
        False,
    ),
    (
        Guard(
            "verify/proofs/slicing.py",
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((w.namespace == "
            "budget.namespace and budget.selector and budget.selector.matches(dict(w.template.labels)) "
            "for w in workloads)))))",
        ),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relations", "(yield tuple(_read_by(loaded, intent)))"),
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
        Guard("verify/proofs/crowd/conditions.py", "find_own_obstacle", "_may_preempt_each_other(part.loaded.setup)"),
        "a pod of higher priority takes the port",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "has_rules_beside_room",
            "any((container.host_ports for container in workload.template.containers))",
        ),
        "a pod of higher priority takes the port",
        True,
    ),
    (
        Guard("verify/proofs/crowd/conditions.py", "_may_loop_at_once", "template.node_name is not None"),
        "a pod is refused without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((_may_loop_at_once(workload, events) for workload in setup.workloads))",
        ),
        "a drained node evicts a pod without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((_is_evicted(workload, node) for workload in setup.workloads for node in setup.nodes))",
        ),
        "pods end without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((profile.disabled & RULES for profile in setup.profiles))",
        ),
        "a scheduler does not ask for labels",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((one.rules.counts_completions and one.job.deadline_s is not None for one in workloads))",
        ),
        "a Job ends before its pods",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((workload.template.node_name for workload in workloads))",
        ),
        "a pod is refused on the node that it names",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((is_meant(quota, workload) for quota in loaded.setup.quotas for workload in workloads))",
        ),
        "a quota counts the pods of a part",
        True,
    ),
    (Guard("verify/proofs/crowd/room.py", "working", "(yield autoscaler)"), "an autoscaler resizes a part", True),
    (
        Guard("verify/proofs/crowd/room.py", "_is_above_usage", "metric.value >= DEFAULT_PERCENT"),
        "an autoscaler resizes a part",
        True,
    ),
    (
        Guard("model/reductions/loosened.py", "_empty", "not around.drains_end"),
        "others never leave a drained node",
        True,
    ),
    (
        Guard("model/reductions/loosened.py", "_fill", "_short(plan, scheduler.workload, around)"),
        "a daemon pod comes too late",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_may_be_on", "workload.bound_to"),
        "a pod runs on a node that would refuse it",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_beside_daemons", "free[name] -= amount * count"),
        "daemon pods take room",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/room.py",
            "_most_wanted",
            "sizes += [n for event in events for n in event.sizes]",
        ),
        "a workload that grows takes room",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_crowd", "active += _most_surge(workload, size, events)"),
        "a rollout that is never complete takes room",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_selecting", "_is_spread_hard(setup, w)"),
        "a spread constraint counts pods of others",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relations", "(yield from _sharing_volumes(loaded.setup, forms))"),
        "claims want the same volume",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relations", "(yield from _sharing_claims_of_ordinals(forms))"),
        "the claim of an ordinal is mounted by others",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "flatten", "not _finds_room(setup, short)"),
        "a workload that grows takes room",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "_relations", "(yield from _sharing_ports(loaded.setup, forms))"),
        "room where a port is taken is none",
        True,
    ),
    (
        Guard("verify/proofs/crowd/swaying.py", "_find_slack", "slack += weight * ranges"),
        "pods are drawn to the empty node",
        True,
    ),
    (
        Guard(
            "model/reductions/loosened.py",
            "_find_forgotten",
            "any((_asks_for_pods(setup, workload.template) for workload in setup.workloads))",
        ),
        "a pod that never ends keeps its successor out of a zone",
        True,
    ),
    (
        Guard("verify/proofs/crowd/swaying.py", "find_sway", "_counts_others(setup, members)"),
        "pods are spread from those of others",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/swaying.py",
            "_counts_others",
            "any((not _find_counted(setup, number) <= own for number in members))",
        ),
        "pods are spread from those of others",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/swaying.py",
            "_counts_others",
            "any((some & own and (not some <= own) for some in related))",
        ),
        "pods are repelled by those of others",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_rests", "all(map(_is_above_usage, autoscaler.metrics))"),
        "an autoscaler resizes a part",
        True,
    ),
    (Guard("verify/proofs/crowd/resizing.py", "largest", "self._may_rise()"), "an autoscaler resizes a part", True),
    (
        Guard("verify/proofs/crowd/resizing.py", "_may_rise", "ratio > 1 and (not self._tolerance.covers(ratio))"),
        "an autoscaler resizes a part",
        True,
    ),
    (
        Guard("verify/proofs/slicing.py", "cut_by_relations", "heals_without_end(loaded)"),
        "an autoscaler and a reconciler write in turn",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "_may_run_anywhere", "spread"),
        "pods are spread over a cordoned node",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "flatten", "not all(map(_may_run_anywhere, setup.workloads))"),
        "pods are spread over a cordoned node",
        True,
    ),
    *POD_BY_POD,
)
