"""Claims that get their volume during the run, where pods have priorities."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.kinds import DEPLOYMENT
from kubeproof.cluster.objects import Container, Node, PodTemplate, Settings, Setup
from kubeproof.cluster.volumes import Claim, StorageClass
from kubeproof.events.declarations import NodeFailure
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.verdicts import Verdict
from tests.differential.comparison import compare
from tests.property.strategies import MIB, Case, node_labels, workload


def test_a_volume_ties_pods_to_its_zone_also_where_pods_have_priorities() -> None:
    nodes = tuple(
        Node(name, node_labels(name, zone, None, True), cpu_milli=1000, memory_bytes=1024 * MIB)
        for name, zone in (("n1", "a"), ("n2", "b"))
    )
    template = PodTemplate((("app", "web"),), (Container("main", 100),), grace_s=0, claims=("data",))
    pods = workload(DEPLOYMENT, "web", template, 1)
    urgent = workload(DEPLOYMENT, "db", PodTemplate((("app", "db"),), (Container("main", 100),), grace_s=0), 1)
    urgent = replace(urgent, template=replace(urgent.template, priority=10))
    setup = Setup(
        nodes,
        (pods, urgent),
        settings=Settings(startup_s=(0, 0)),
        claims=(Claim("shop", "data", 1, "fast"),),
        storage_classes=(StorageClass("fast", "ebs.csi.aws.com", waits=True),),
    )
    failure = NodeFailure(name="failure", max=1, after="stable", recovers=False)
    ready = Intent(key="minReady", name="ready", target=pods.ref, when="eventuallyAlways", count=Amount(1))

    tied = compare(Case(setup, (failure,), (ready,)), reference_states=3000)
    free = compare(
        Case(
            replace(setup, storage_classes=(StorageClass("fast", "nfs.example.com", waits=True),)), (failure,), (ready,)
        ),
        reference_states=3000,
    )

    assert (tied.verdicts, free.verdicts) == ((Verdict.VIOLATED,), (Verdict.HOLDS,))
