"""The guards that are removed one by one, each with the cluster that misses it."""

from __future__ import annotations

from tests.differential.guards.switching import Guard

MUTANTS: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
    (
        Guard("model/alone.py", "_creates_unseen", "any((is_meant(q, workload) for q in plan.setup.quotas))"),
        "a quota relates those that it charges",
        False,
    ),
    (Guard("model/alone.py", "_is_left_alone", "not written"), "somebody scales before the first sync", False),
    (
        Guard("model/alone.py", "taken_alone", "not _is_left_alone(plan, number)"),
        "somebody scales before the first sync",
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
            "model/layout.py",
            "_mention_choice",
            "_mention_requirements(found, choice.selector.requirements if choice.selector else ())",
        ),
        "an event chooses nodes by label",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_choice", "found.names |= set(choice.names or ())"),
        "an event chooses nodes by name",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_event", "_mention_choice(found, choice)"),
        "an event chooses nodes by label",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_requirements", "found.keys.add(requirement.key)"),
        "room that a profile refuses is none",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_requirements", "found.numeric_keys.add(requirement.key)"),
        "a term compares numbers",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_requirements",
            "found.values |= {(requirement.key, value) for value in requirement.values}",
        ),
        "a term asks for a value",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_template",
            "_mention_terms(found, (preferred.term for preferred in template.preferred_terms))",
        ),
        "pods prefer a label",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_template", "_mention_terms(found, template.required_terms or ())"),
        "a term asks for a value",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_template",
            "found.topology |= template.pod_affinity.topology_keys | template.pod_anti_affinity.topology_keys",
        ),
        "pods keep apart by rack and row",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_template",
            "found.topology |= {constraint.topology_key for constraint in template.spread}",
        ),
        "pods spread over racks",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_template", "found.values |= set(template.node_selector)"),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_terms", "_mention_requirements(found, term.expressions)"),
        "room that a profile refuses is none",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_terms",
            "found.names |= {value for requirement in term.fields for value in requirement.values}",
        ),
        "a term asks for a name",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_volumes", "_mention_terms(found, volume.terms or ())"),
        "a volume is reached by label",
        False,
    ),
    (
        Guard("model/layout.py", "_mention_volumes", "found.numeric_keys |= storage_class.labels_read"),
        "a class provisions for some nodes",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_mention_volumes",
            "found.numeric_keys |= {name for key, _ in volume.labels if key in ZONE_LABELS for name in ZONE_LABELS}",
        ),
        "a volume is in a zone",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "_resources_read",
            "found |= {n for container in (*template.containers, *template.init_containers) for n, _ in "
            "container.others}",
        ),
        "a container asks for a resource of its own",
        False,
    ),
    (
        Guard("model/layout.py", "_resources_read", "found |= {name for name, _ in template.overhead}"),
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
    (Guard("model/layout.py", "mentions", "_mention_event(found, event)"), "an event chooses nodes by label", False),
    (
        Guard(
            "model/layout.py",
            "mentions",
            "_mention_requirements(found, intent.nodes.requirements if intent.nodes else ())",
        ),
        "an intent allows nodes by label",
        False,
    ),
    (
        Guard("model/layout.py", "mentions", "_mention_template(found, workload.template)"),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("model/layout.py", "mentions", "_mention_terms(found, profile.added_affinity or ())"),
        "room that a profile refuses is none",
        False,
    ),
    (Guard("model/layout.py", "mentions", "_mention_volumes(found, setup)"), "a volume is reached by label", False),
    (
        Guard("model/layout.py", "mentions", "found.names |= set(intent.node_names or ())"),
        "an intent allows nodes by name",
        False,
    ),
    (
        Guard(
            "model/layout.py",
            "mentions",
            "found.topology |= {constraint.topology_key for constraint in profile.default_spread or ()}",
        ),
        "a profile spreads pods",
        False,
    ),
    (
        Guard("model/layout.py", "mentions", "found.topology |= {intent.topology_key} - {''}"),
        "an intent compares racks",
        False,
    ),
    (
        Guard("model/startup.py", "check_untouched", "isinstance(action, Delete) and action.workload in waiting"),
        "pods are deleted while some start",
        False,
    ),
    (
        Guard("verify/bounds.py", "_always_fits", "all((_is_even(layout, scheduler, one) for one in hard))"),
        "the spread counts pods of others",
        False,
    ),
    (Guard("verify/bounds.py", "_always_fits", "everywhere"), "a node without pods counts for the spread", False),
    (
        Guard(
            "verify/bounds.py",
            "_always_fits",
            "hard and (not (everywhere and all((_is_even(layout, scheduler, one) for one in hard))))",
        ),
        "a node without pods counts for the spread",
        False,
    ),
    (
        Guard("verify/bounds.py", "_always_fits", "scheduler.kernel.compares_nodes_by - {SPREAD}"),
        "pods keep apart by rack",
        False,
    ),
    (
        Guard("verify/bounds.py", "_has_room", "_always_fits(plan.layout, schedulers[0], most)"),
        "a node without pods counts for the spread",
        False,
    ),
    (Guard("verify/bounds.py", "_is_bounded", "not is_left_alone(plan, fact.workload)"), "a taint evicts pods", False),
    (
        Guard("verify/bounds.py", "_is_even", "constraint.counted != {scheduler.workload}"),
        "the spread counts pods of others",
        False,
    ),
    (Guard("verify/bounds.py", "_is_even", "not constraint.one_node_each"), "a profile spreads pods", False),
    (
        Guard(
            "verify/bounds.py",
            "held_by_bounds",
            "_is_bounded(plan, monitor, starts) or _has_room(plan, monitor, starts)",
        ),
        "a taint evicts pods",
        False,
    ),
    (
        Guard("verify/bounds.py", "held_by_bounds", "_is_guarded(plan, monitor, starts)"),
        "the budget asks for less than the intent",
        False,
    ),
    (Guard("verify/coarser.py", "proofs", "finding.verdict == 'holds'"), "an autoscaler asks for more", False),
    (Guard("verify/crowded.py", "_admits", "is_open"), "room on nodes with another label is none", True),
    (
        Guard("verify/crowded.py", "_admits", "not keeps_pods_off(node.taints, template.tolerations)"),
        "room on tainted nodes is none",
        True,
    ),
    (Guard("verify/crowded.py", "_admits", "not node.unschedulable"), "room on cordoned nodes is none", True),
    (
        Guard("verify/crowded.py", "_admits", "required_affinity_matches(template, dict(node.labels), node.name)"),
        "room on nodes with another label is none",
        True,
    ),
    (
        Guard("verify/crowded.py", "_finds_room", "_admits(node, workload)"),
        "room on nodes with another label is none",
        True,
    ),
    (
        Guard("verify/crowded.py", "_finds_room", "full < len(admitted) - hit"),
        "a node relates those that it takes",
        True,
    ),
    (
        Guard("verify/crowded.py", "_is_plain", "not any((container.host_ports for container in containers))"),
        "room where a port is taken is none",
        True,
    ),
    (
        Guard("verify/crowded.py", "_most_full", "full += taken.get(resource, 0) // (least_free + 1) if amount else 0"),
        "a node relates those that it takes",
        True,
    ),
    (
        Guard("verify/crowded.py", "may_be_proved", "all((_is_plain(workload) for workload in setup.workloads))"),
        "room where a port is taken is none",
        True,
    ),
    (
        Guard(
            "verify/crowded.py",
            "may_be_proved",
            "not any((profile.added_affinity or profile.disabled & RULES for profile in setup.profiles))",
        ),
        "room that a profile refuses is none",
        True,
    ),
    (
        Guard("verify/crowded.py", "may_be_proved", "profile.added_affinity"),
        "room that a profile refuses is none",
        True,
    ),
    (
        Guard("verify/crowded.py", "proofs_of", "not always_finds_room(loaded, part, plan)"),
        "a node relates those that it takes",
        True,
    ),
    (
        Guard("verify/guarded.py", "healthy_demanded", "selected_by(plan.setup, budgets[0]) != (workload,)"),
        "the budget counts pods of others",
        False,
    ),
    (
        Guard("verify/guarded.py", "is_guarded", "fact.amount.of(size) > min(demanded, size)"),
        "the budget asks for less than the intent",
        False,
    ),
    (
        Guard("verify/guarded.py", "only_budgets_decide", "all((isinstance(event, EVENTS) for event in plan.events))"),
        "no budget keeps a node from failing",
        False,
    ),
    (
        Guard("verify/guarded.py", "only_budgets_decide", "nobody_preempts(plan)"),
        "a pod is preempted in spite of its budget",
        False,
    ),
    (
        Guard("verify/sizes.py", "_at_start", "(yield from pods_at_start(plan, number, starts))"),
        "there are too many pods at first",
        False,
    ),
    (Guard("verify/sizes.py", "_written", "(yield event.replicas)"), "somebody applies another size", False),
    (
        Guard(
            "verify/sizes.py",
            "_written",
            "(yield from (controller.autoscaler.min_replicas, controller.autoscaler.max_replicas))",
        ),
        "an autoscaler asks for more",
        False,
    ),
    (Guard("verify/sizes.py", "_written", "(yield from event.event.replicas)"), "somebody scales to nothing", False),
    (Guard("verify/sizes.py", "is_left_alone", "not is_evicted_by_taints(plan, number)"), "a taint evicts pods", False),
    (
        Guard("verify/sizes.py", "only_sizes_decide", "all((isinstance(event, EVENTS) for event in plan.events))"),
        "a node is closed",
        False,
    ),
    (
        Guard("verify/sizes.py", "only_sizes_decide", "nobody_preempts(plan)"),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard("verify/slicing.py", "_entangled", "any((_counts_all(intent) for intent in scenario.intents))"),
        "an intent counts pods of all",
        False,
    ),
    (
        Guard(
            "verify/slicing.py",
            "_hits_several",
            "isinstance(event, NodeFailure) and event.together and (event.max != 1)",
        ),
        "nodes of two parts fail in one moment",
        False,
    ),
    (
        Guard("verify/slicing.py", "_kept_whole", "(reason := _entangled(loaded))"),
        "an intent counts pods of all",
        False,
    ),
    (
        Guard("verify/slicing.py", "_kept_whole", "any((_hits_several(event) for event in events))"),
        "nodes of two parts fail in one moment",
        False,
    ),
    (Guard("verify/slicing.py", "_may_run_on", "is_open"), "a pod is preempted below its size", False),
    (Guard("verify/slicing.py", "_may_run_on", "is_wanted"), "a pod is preempted below its size", False),
    (
        Guard("verify/slicing.py", "_may_run_on", "not heeds(setup, template, NODE_AFFINITY)"),
        "a scheduler ignores node affinity",
        False,
    ),
    (
        Guard("verify/slicing.py", "_may_run_on", "not heeds(setup, template, TAINT_TOLERATION)"),
        "a scheduler ignores taints",
        False,
    ),
    (
        Guard("verify/slicing.py", "_relations", "(yield from _selecting(loaded.setup, forms))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/slicing.py", "_relations", "(yield from _sharing_nodes(loaded, forms))"),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard(
            "verify/slicing.py",
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((_uses(w, claim) for w in workloads)))))",
        ),
        "a claim relates those that mount it",
        False,
    ),
    (
        Guard(
            "verify/slicing.py",
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((is_meant(quota, w) for w in workloads)))))",
        ),
        "a quota relates those that it charges",
        False,
    ),
    (
        Guard(
            "verify/slicing.py",
            "_relations",
            "(yield tuple((ref for ref, workloads in forms.items() if any((w.namespace == "
            "budget.namespace and budget.selector and budget.selector.matches(dict(w.template.labels)) "
            "for w in workloads)))))",
        ),
        "a budget relates those that it guards",
        False,
    ),
    (
        Guard("verify/slicing.py", "_relations", "(yield tuple(_read_by(loaded, intent)))"),
        "an intent relates those that it selects",
        False,
    ),
    (
        Guard("verify/slicing.py", "_selecting", "(yield (one, other))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/slicing.py", "_selecting", "any((s.matches(pod) for s in far))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard(
            "verify/slicing.py",
            "_sharing_nodes",
            "(yield tuple((ref for ref, workloads in forms.items() if node.name in placed.get(ref, ()) "
            "or any((_may_run_on(loaded.setup, w, node) for w in workloads)))))",
        ),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard("verify/slicing.py", "_sharing_nodes", "any((_may_run_on(loaded.setup, w, node) for w in workloads))"),
        "a pod is preempted below its size",
        False,
    ),
    (
        Guard("verify/slicing.py", "_sharing_nodes", "node.name in placed.get(ref, ())"),
        "a pod begins where it would not go",
        False,
    ),
    (
        Guard("verify/slicing.py", "_sharing_nodes", "placed.setdefault(ref, set()).add(name)"),
        "a pod begins where it would not go",
        False,
    ),
    (
        Guard("verify/slicing.py", "_term_selectors", "(yield from (term.selector for term in affinity.required))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (
        Guard("verify/slicing.py", "_term_selectors", "(yield from of(template.pod_anti_affinity))"),
        "an affinity term relates those that it speaks of",
        False,
    ),
    (Guard("verify/slicing.py", "cut", "(reason := _kept_whole(loaded))"), "an intent counts pods of all", False),
    (Guard("verify/slicing.py", "cut", "groups.join(related)"), "a pod is preempted below its size", False),
)
