"""What the descheduler reads of nodes."""

from __future__ import annotations

from kubeproof.cluster.loops.mentions import Mentions, mention_requirements
from kubeproof.cluster.objects import Setup
from kubeproof.controllers.descheduler.arguments import policy_requirements
from kubeproof.controllers.scheduler.mentions import mention_scheduling


def mention_policy(found: Mentions, setup: Setup) -> None:
    """Adds what its plugins read: what the scheduler does, nodes that the policy selects, and all that a node offers.

    Thresholds may name any resource.
    """
    assert setup.descheduler is not None
    mention_scheduling(found, setup)
    mention_requirements(found, policy_requirements(setup.descheduler))
    found.every_resource = True
