"""Volumes, claims and storage classes, from manifest to verdict."""

from __future__ import annotations

import pytest

from kubeproof.verify.words.obstacles import NO_CLAIM
from tests.unit.verify.inputs import loaded, only, scenario, verified, web

ZONE = "topology.kubernetes.io/zone"
MOUNT = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
SCHEDULABLE = scenario("{schedulable: {target: Deployment/shop/web}}")
READY = "{minReady: {target: Deployment/shop/web, count: 1, when: eventuallyAlways}}"


def node(name: str, zone: str) -> str:
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, {ZONE}: {zone}}}}}
status: {{allocatable: {{cpu: "8", memory: 8Gi, pods: "110"}}}}
"""


def claim(name: str = "data", *, size: str = "1Gi", modes: str = "ReadWriteOnce", more: str = "") -> str:
    return f"""apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}, namespace: shop}}
spec: {{accessModes: [{modes}], resources: {{requests: {{storage: {size}}}}}{more}}}
"""


def volume(name: str, zone: str, *, size: str = "1Gi", more: str = "") -> str:
    expression = f"{{key: {ZONE}, operator: In, values: [{zone}]}}"
    return f"""apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: {size}}}
  accessModes: [ReadWriteOnce]
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}}}
  {more}
"""


def storage_class(name: str, *, provisioner: str = "ebs.csi.aws.com", waits: bool = True, more: str = "") -> str:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return f"""apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {name}}}
provisioner: {provisioner}
volumeBindingMode: {mode}
{more}
"""


TWO_ZONES = node("n1", "a"), node("n2", "b")
FAST = ", storageClassName: fast"


def test_a_claim_that_does_not_exist_keeps_its_pods_off_every_node() -> None:
    result = only(verified(*TWO_ZONES, web(1, more=MOUNT), SCHEDULABLE))

    assert result.verdict == "VIOLATED"
    assert result.trace is not None
    assert 'n1: VolumeRestrictions: persistentvolumeclaim "data" not found' in result.trace.final
    assert (NO_CLAIM, "") in result.trace.obstacles


@pytest.mark.parametrize(("zone", "verdict"), [("a", "HOLDS"), ("c", "VIOLATED")])
def test_a_bound_volume_binds_its_pods_to_the_nodes_that_reach_it(zone: str, verdict: str) -> None:
    bound = claim(more=", storageClassName: '', volumeName: disk")

    result = only(verified(*TWO_ZONES, web(1, more=MOUNT), bound, volume("disk", zone), SCHEDULABLE))

    assert result.verdict == verdict


def test_a_volume_made_for_the_first_pod_ties_later_pods_to_its_zone() -> None:
    failure = scenario(READY, events="{nodeFailure: {recovers: false, after: stable}}")
    bound = claim(more=FAST), storage_class("fast")
    everywhere = claim(modes="ReadWriteMany", more=FAST), storage_class("fast", provisioner="nfs.example.com")

    tied = only(verified(*TWO_ZONES, web(1, more=MOUNT), *bound, failure))
    free = only(verified(*TWO_ZONES, web(1, more=MOUNT), *everywhere, failure))

    assert (tied.verdict, free.verdict) == ("VIOLATED", "HOLDS")
    assert tied.trace is not None
    assert any("binds claim shop/data to volume provisioned for shop/data in" in s.action for s in tied.trace.steps)


def test_claims_keep_their_volumes_when_a_run_starts_deployed() -> None:
    failure = scenario(READY, events="{nodeFailure: {recovers: false}}", start="deployed")

    result = verified(*TWO_ZONES, web(1, more=MOUNT), claim(more=FAST), storage_class("fast"), failure)

    assert only(result).verdict == "VIOLATED"


@pytest.mark.parametrize(("zone", "verdict"), [("b", "HOLDS"), ("c", "VIOLATED")])
def test_allowed_topologies_decide_for_which_nodes_a_volume_can_be_made(zone: str, verdict: str) -> None:
    allowed = f"allowedTopologies: [{{matchLabelExpressions: [{{key: {ZONE}, values: [{zone}]}}]}}]"

    result = only(
        verified(*TWO_ZONES, web(1, more=MOUNT), claim(more=FAST), storage_class("fast", more=allowed), SCHEDULABLE)
    )

    assert result.verdict == verdict


def test_without_a_provisioner_claims_that_wait_get_declared_volumes_only() -> None:
    local = storage_class("fast", provisioner="kubernetes.io/no-provisioner")
    disk = volume("disk", "a", more="storageClassName: fast")
    only_there = scenario("{onlyOn: {target: Deployment/shop/web, nodes: {names: [n1]}}}")

    assert only(verified(*TWO_ZONES, web(1, more=MOUNT), claim(more=FAST), local, SCHEDULABLE)).verdict == "VIOLATED"
    assert only(verified(*TWO_ZONES, web(1, more=MOUNT), claim(more=FAST), local, disk, only_there)).verdict == "HOLDS"


def test_two_claims_do_not_get_the_same_volume() -> None:
    local = storage_class("fast", provisioner="kubernetes.io/no-provisioner")
    disk = volume("disk", "a", more="storageClassName: fast")
    other = web(1, name="db", more=MOUNT.replace("claimName: data", "claimName: more"))
    both = scenario("{schedulable: {target: Deployment/shop/web}}", "{schedulable: {target: Deployment/shop/db}}")

    result = verified(
        *TWO_ZONES, web(1, more=MOUNT), other, claim(more=FAST), claim("more", more=FAST), local, disk, both
    )

    assert [one.verdict for one in result.results] == ["VIOLATED", "VIOLATED"]


@pytest.mark.parametrize(("selector", "verdict"), [("", "HOLDS"), (f"nodeSelector: {{{ZONE}: a}}", "VIOLATED")])
def test_a_claim_bound_at_once_may_get_its_volume_in_a_zone_that_the_pod_cannot_go_to(
    selector: str, verdict: str
) -> None:
    at_once = storage_class("fast", waits=False)
    pods = web(1, more=f"{MOUNT}\n      {selector}")

    result = only(verified(*TWO_ZONES, pods, claim(more=FAST), at_once, SCHEDULABLE))

    assert result.verdict == verdict


@pytest.mark.parametrize(("mode", "verdict"), [("ReadWriteOncePod", "VIOLATED"), ("ReadWriteMany", "HOLDS")])
def test_a_claim_for_one_pod_lets_one_pod_run(mode: str, verdict: str) -> None:
    bound = claim(modes=mode, more=", storageClassName: '', volumeName: disk")

    result = only(verified(*TWO_ZONES, web(2, more=MOUNT), bound, volume("disk", "a"), SCHEDULABLE))

    assert result.verdict == verdict


def test_what_the_input_does_not_say_of_storage_is_listed() -> None:
    found = loaded(*TWO_ZONES, web(1, more=MOUNT), claim(more=FAST), claim("b", more=", volumeName: gone"), SCHEDULABLE)

    assert [(o.what, o.why) for o in found.omissions] == [
        (
            "storage of PersistentVolumeClaim/shop/data",
            "its StorageClass is not in the input; every node is taken to reach it",
        ),
        (
            "storage of PersistentVolumeClaim/shop/b",
            "its volume gone is not in the input; every node is taken to reach it",
        ),
    ]


def test_a_claim_without_a_class_gets_the_default_one() -> None:
    default = storage_class("fast").replace(
        "{name: fast}", '{name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}'
    )

    setup = loaded(*TWO_ZONES, web(1, more=MOUNT), claim(), default, SCHEDULABLE).setup

    assert [one.storage_class for one in setup.claims] == ["fast"]


def test_without_a_scenario_a_claim_of_a_namespace_that_shows_none_comes_from_elsewhere() -> None:
    alone = loaded(*TWO_ZONES, web(1, more=MOUNT))

    assert [claim.key for claim in alone.setup.claims] == ["shop/data"]
    assert [(one.what, one.why) for one in alone.omissions] == [
        (
            "storage of PersistentVolumeClaim/shop/data",
            "the claim itself is not in the input; it is taken to be there, and every node to reach it",
        )
    ]
    beside = loaded(*TWO_ZONES, web(1, more=MOUNT), claim("other"))
    assert [claim.key for claim in beside.setup.claims] == ["shop/other"]
    assert loaded(*TWO_ZONES, web(1, more=MOUNT), SCHEDULABLE).setup.claims == ()


def test_a_rollout_of_pods_that_share_a_volume_of_one_node_is_not_decided() -> None:
    def answer(strategy: str, modes: str) -> str:
        rolled = web(1, more=MOUNT).replace("replicas: 1", f"replicas: 1\n  {strategy}")
        asks = scenario(READY, events="{rollout: {target: Deployment/shop/web}}")
        return only(verified(*TWO_ZONES, rolled, claim(modes=modes), asks)).verdict

    surges, recreates = "", "strategy: {type: Recreate}"
    assert (answer(surges, "ReadWriteOnce"), answer(surges, "ReadWriteMany")) == ("UNKNOWN", "HOLDS")
    assert answer(recreates, "ReadWriteOnce") == "HOLDS"


def steady(*documents: str, target: str = "Deployment/shop/web", events: str = "") -> str:
    asks = scenario(f"{{minReady: {{target: {target}, count: 100%, when: eventuallyAlways}}}}", events=events)
    return only(verified(node("n1", "a"), node("n2", "a"), *documents, asks)).verdict


@pytest.mark.parametrize(("mode", "verdict"), [("ReadWriteOnce", "UNKNOWN"), ("ReadWriteMany", "HOLDS")])
def test_pods_of_several_workloads_that_share_a_volume_of_one_node_are_not_decided(mode: str, verdict: str) -> None:
    shared = claim(modes=mode)

    assert steady(web(1, more=MOUNT), web(1, name="db", more=MOUNT), shared) == verdict
    assert steady(web(1, more=MOUNT), web(1, name="db"), shared) == "HOLDS"


@pytest.mark.parametrize(("replicas", "verdict"), [(1, "HOLDS"), (2, "UNKNOWN")])
def test_ordinals_that_share_a_volume_of_one_node_are_not_decided(replicas: int, verdict: str) -> None:
    ordinals = web(replicas, more=MOUNT).replace("Deployment", "StatefulSet")

    assert steady(ordinals, claim(), target="StatefulSet/shop/web") == verdict


@pytest.mark.parametrize(("size", "verdict"), [(1, "HOLDS"), (2, "UNKNOWN")])
def test_a_pod_more_beside_a_volume_of_one_node_is_not_decided(size: int, verdict: str) -> None:
    sized = f"{{scale: {{target: Deployment/shop/web, replicas: [{size}]}}}}"

    assert steady(web(1, more=MOUNT), claim(), events=sized) == verdict


def test_a_volume_of_one_node_is_enough_where_there_is_but_one() -> None:
    asks = scenario(READY)

    assert only(verified(node("n1", "a"), web(2, more=MOUNT), claim(), asks)).verdict == "HOLDS"


OWN = """
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


def test_a_backup_that_mounts_the_claim_of_an_ordinal_is_not_decided() -> None:
    ordinal = web(1, name="db").replace("Deployment", "StatefulSet").rstrip() + OWN

    assert steady(ordinal, web(1), target="StatefulSet/shop/db") == "HOLDS"
    assert steady(ordinal, web(1, more=MOUNT.replace("claimName: data", "claimName: data-db-0"))) == "UNKNOWN"


ON_NODES = "  hostPath: {path: /data}"
MANUAL = ", storageClassName: manual"


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ((volume("disk", "a", more=f"storageClassName: manual\n{ON_NODES}"),), "HOLDS"),
        ((volume("disk", "a", more="storageClassName: manual\n  iscsi: {iqn: x}"),), "UNKNOWN"),
        (  # which of the claims gets it is open
            (volume("disk", "a", more=f"storageClassName: manual\n{ON_NODES}"), claim("other", more=MANUAL)),
            "UNKNOWN",
        ),
        ((storage_class("manual", provisioner="nfs.csi.k8s.io"),), "HOLDS"),
        ((storage_class("manual", provisioner="ebs.csi.aws.com"),), "UNKNOWN"),
        (  # it gets the disk, if it is the smallest that fits
            (
                storage_class("manual", provisioner="nfs.csi.k8s.io"),
                volume("disk", "a", more="storageClassName: manual"),
            ),
            "UNKNOWN",
        ),
    ],
)
def test_volumes_that_nodes_mount_without_attaching_them_are_as_they_are_taken(
    others: tuple[str, ...], verdict: str
) -> None:
    pods = web(1, more=MOUNT), web(1, name="db", more=MOUNT)

    assert steady(*pods, claim(more=MANUAL), *others) == verdict


def test_a_volume_that_a_claim_names_says_whether_it_is_attached() -> None:
    named = claim(more=f"{MANUAL}, volumeName: disk")
    pods = web(1, more=MOUNT), web(1, name="db", more=MOUNT)
    mounted, attached = (volume("disk", "a", more=f"storageClassName: manual\n{one}") for one in (ON_NODES, ""))

    assert (steady(*pods, named, mounted), steady(*pods, named, attached)) == ("HOLDS", "UNKNOWN")
