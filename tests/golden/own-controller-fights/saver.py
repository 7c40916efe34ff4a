"""Saves pods that cannot start, and asks for them again as soon as the rest runs: it fights with itself."""

from kubeproof.controllers.own import scale

WEB = "Deployment/shop/web"


class Saver:
    name = "saver"

    def act(self, cluster):
        web = cluster.workload(WEB)
        if web.pending:
            yield scale(web.ref, web.desired - 1)
        elif web.ready == web.desired < 3:
            yield scale(web.ref, 3)


class Careful:
    name = "careful"

    def act(self, cluster):
        web = cluster.workload(WEB)
        if web.pending:
            yield scale(web.ref, web.desired - 1)
