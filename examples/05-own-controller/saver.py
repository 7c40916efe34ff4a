"""Two controllers of our own for Deployment/shop/web; kubeproof verifies them together with the built-in ones.

A controller has a name and a pure `act`: from the cluster it is shown to what it would do now. A decision that
changes nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.controllers.own import ClusterView, Scale, scale

WEB = "Deployment/shop/web"
WANTED = 3


class Saver:
    """Gives up a pod that waits for a node, and asks for it again as soon as all others are ready."""

    name = "saver"

    def act(self, cluster: ClusterView) -> Iterator[Scale]:
        web = cluster.workload(WEB)
        if web.pending:
            yield scale(web.ref, web.desired - 1)
        elif web.ready == web.desired < WANTED:
            yield scale(web.ref, web.desired + 1)


class PatientSaver:
    """Gives up a pod that waits while others are ready and none is starting, and never asks for it again."""

    name = "patient-saver"

    def act(self, cluster: ClusterView) -> Iterator[Scale]:
        web = cluster.workload(WEB)
        if web.pending and 0 < web.ready == web.desired - web.pending:
            yield scale(web.ref, web.ready)
