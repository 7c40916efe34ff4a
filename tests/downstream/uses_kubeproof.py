"""A program of somebody else's, as strict about types as we are: mypy reads it, nothing runs it."""

from collections.abc import Iterator

import kubeproof


class Saver:
    """A controller of their own."""

    name = "saver"

    def act(self, cluster: kubeproof.ClusterView) -> Iterator[kubeproof.Scale]:
        """Gives up a pod that waits for a node."""
        web: kubeproof.WorkloadView = cluster.workload("Deployment/shop/web")
        if web.pending:
            yield kubeproof.scale(web.ref, web.desired - 1)


def check_all(paths: list[str]) -> str:
    """The first thing to do about some manifests."""
    controller: kubeproof.OwnController = Saver()
    options = kubeproof.VerifyOptions(max_states=1_000, controllers=(f"saver.py:{type(controller).__name__}",))
    found: kubeproof.Verification = kubeproof.verify(paths, options, nodes="3x4cpu,16Gi")
    details: list[str] = [one.detail for one in found.violations]
    graded: kubeproof.Matrix | None = kubeproof.matrix(paths, faults=["drain"], grade="steady").matrix
    cells: tuple[kubeproof.Cell, ...] = () if graded is None else graded.cells
    details += [cell.detail for cell in cells]
    repairs: kubeproof.Repairs = kubeproof.fix(paths, deny=["replicas"])
    run: kubeproof.Simulation = kubeproof.simulate(paths, duration="5m", runs=3)
    return "\n".join([*details, repairs.diff, str(run.costs.pod_hours)])
