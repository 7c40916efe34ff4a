"""The guards of classes of nodes, each with the cluster that misses it: who reads which labels and resources."""

from __future__ import annotations

from tests.differential.guards.switching import Guard

NODES: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
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
            "controllers/scheduler/mentions.py",
            "resources_read",
            "found |= {name for name, _ in (*template.overhead, *template.own_requests)}",
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
)
