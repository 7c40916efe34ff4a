from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.objects import Container, HostPort, PodTemplate, Setup
from kubeproof.cluster.state import NodeCell, Phase, PodKind
from kubeproof.controllers.admission.kubelet_admission import count_rejected
from kubeproof.controllers.scheduler.plugins.node_ports import conflict
from tests.unit.controllers.scheduler.builders import info, node, refusals, scheduler, template, workload

PLUGIN = "NodePorts"
HTTP = HostPort(80)


def listening(*ports: HostPort, **fields: object) -> PodTemplate:
    return template(containers=(Container("main", host_ports=ports),), **fields)


@pytest.mark.parametrize(
    ("other", "clashes"),
    [
        (HostPort(80), True),
        (HostPort(443), False),
        (HostPort(80, "UDP"), False),
        (HostPort(80, "TCP", "10.0.0.1"), True),
    ],
)
def test_a_port_on_all_addresses_clashes_with_the_same_port_and_protocol_on_any(other: HostPort, clashes: bool) -> None:
    assert conflict([HTTP], [other]) is clashes
    assert conflict([other], [HTTP]) is clashes


def test_a_port_on_one_address_does_not_clash_with_it_on_another() -> None:
    assert not conflict([HostPort(80, "TCP", "10.0.0.1")], [HostPort(80, "TCP", "10.0.0.2")])


def test_a_node_whose_port_a_pod_holds_is_refused_until_the_pod_is_gone() -> None:
    decider = scheduler(listening(HTTP), listening(HTTP), listening(HostPort(443)))

    rows = decider.evaluate(
        [info(node("n1"), (0, 1)), info(node("n2"), (1, 0, 1)), info(node("n3"), (2, 1)), info(node("n4"))]
    ).rows

    assert refusals(rows) == [PLUGIN, PLUGIN, "", ""]
    assert (rows[0].reason, rows[0].unresolvable) == (
        "node(s) didn't have free ports for the requested pod ports",
        False,
    )


@pytest.mark.parametrize(("version", "refused"), [((1, 32), ""), ((1, 33), PLUGIN)])
def test_ports_of_sidecars_count_since_1_33(version: tuple[int, int], refused: str) -> None:
    sidecar = Container("proxy", restartable_init=True, host_ports=(HTTP,))
    decider = scheduler(template(init_containers=(sidecar,)), version=version)

    assert refusals(decider.evaluate([info(node("n1"), (0, 1))]).rows) == [refused]


def test_ports_of_init_containers_that_end_do_not_count() -> None:
    decider = scheduler(template(init_containers=(Container("init", host_ports=(HTTP,)),)))

    assert refusals(decider.evaluate([info(node("n1"), (0, 1))]).rows) == [""]


def test_the_kubelet_admits_one_of_two_pods_that_name_its_node_and_want_the_same_port() -> None:
    pods = workload(listening(HTTP, node_name="n1"), POD)
    setup = Setup((node("n1"),), (pods,))
    starting = PodKind(0, Phase.STARTING, 0, 0)

    two = NodeCell(pods=((starting, 2),))
    held = NodeCell(pods=((starting, 1), (PodKind(0, Phase.TERMINATING, 0, 30), 1)))

    assert count_rejected(setup, setup.nodes[0], two, starting._replace(evict_s=0)) == (1, 2)
    assert count_rejected(setup, setup.nodes[0], held, starting._replace(evict_s=0)) == (1, 1)
