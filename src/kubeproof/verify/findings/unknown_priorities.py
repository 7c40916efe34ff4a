"""Whether priorities that the input does not tell decide anything.

Who preempts whom depends on them, and who goes first where several pods wait. No pod is preempted for room if there is
always enough for everybody, and for any other rule only within a class of related workloads. Proofs leave open who goes
first: `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from kubeproof.manifests.loaded import Loaded


def are_equal(loaded: Loaded) -> bool:
    """True if all pods are of one class: whatever it says, none goes before another, and none makes room for it."""
    setup = loaded.setup
    if setup.descheduler is not None or setup.cluster_autoscaler is not None:
        return False  # these compare priorities with numbers of their own
    forms = (event.form for event in loaded.scenario.events if event.form is not None)
    templates = [one.template for one in (*setup.workloads, *forms)]
    return len({(one.priority_class, one.priority) for one in templates}) == 1


def decide_nothing(loaded: Loaded) -> bool:
    """True if no run depends on the priorities of pods, except for who goes first."""
    from kubeproof.verify.proofs.crowd.conditions import has_rules_beside_room  # few inputs lack a PriorityClass
    from kubeproof.verify.proofs.crowd.room import Room
    from kubeproof.verify.proofs.slicing import cut_by_relations

    if not Room(loaded).is_never_short:
        return False
    parts = cut_by_relations(loaded)
    return bool(parts) and all(
        len(part.workloads) == 1 or not has_rules_beside_room(part.loaded.setup) for part in parts
    )
