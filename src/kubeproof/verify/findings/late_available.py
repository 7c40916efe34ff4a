"""Where `minReadySeconds`, which is not modelled, does no more than to hold a rollout up.

A pod that is available later than it is ready is, to all who look, one that takes longer to start. Proofs hold however
long that takes. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from kubeproof.cluster.steering.counted import find_counted
from kubeproof.events.declarations import Event
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.proofs.crowd.resizing import keeps_size
from kubeproof.verify.proofs.crowd.room import only_rolls_out, working


def only_delays(loaded: Loaded, ref: str) -> bool:
    """True if nothing tells the ready pods of a workload from those that are available, but its one rollout."""
    setup, scenario = loaded.setup, loaded.scenario
    is_rolled_out_once = [_is_one_rollout(event, ref) for event in scenario.events] == [True]
    begins_complete = scenario.start.mode == "deployed" and not scenario.start.pods
    is_healed = setup.settings.gitops_interval_s is not None
    return is_rolled_out_once and begins_complete and not is_healed and not _is_counted(loaded, ref)


def _is_one_rollout(event: Event, ref: str) -> bool:
    return only_rolls_out(event) and event.subject == ref and event.max == 1


def _is_counted(loaded: Loaded, ref: str) -> bool:
    """True if an autoscaler that may resize looks at the pods: a ReplicaSet that shrinks asks which ones are ready."""
    setup = loaded.setup
    known = {workload.ref for workload in setup.workloads}
    scalers = [one for one in working(loaded) if one.target in known and not keeps_size(loaded, one)]
    return any(setup.workloads[number].ref == ref for one in scalers for number in find_counted(setup, one))
