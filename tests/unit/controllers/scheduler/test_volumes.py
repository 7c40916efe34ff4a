from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.objects import HOSTNAME, ZONE, Settings, Setup
from kubeproof.cluster.volumes import (
    NO_PROVISIONER,
    Claim,
    StorageClass,
    Volume,
    open_claims,
    possible_volumes,
    suitable,
    ways_to_bind,
    with_bindings,
)
from kubeproof.controllers.scheduler.framework import NodeInfo, Row, Scheduler
from tests.unit.controllers.scheduler.builders import info, node, refusals, scores, template, workload

WAITS = StorageClass("fast", "ebs.csi.aws.com", waits=True)
LOCAL = StorageClass("fast", NO_PROVISIONER, waits=True)
N1, N2 = node("n1", "a"), node("n2", "b")


def claim(name: str = "data", request: int = 1, **fields: Any) -> Claim:
    return Claim("shop", name, request, **{"storage_class": "fast", **fields})


def disk(name: str, zone: str | None = None, capacity: int = 1, **fields: Any) -> Volume:
    terms = (NodeTerm((Requirement(ZONE, "In", (zone,)),)),) if zone else None
    return Volume(name, capacity, **{"storage_class": "fast", "terms": terms, **fields})


def cluster(*claims: Claim, volumes: tuple[Volume, ...] = (), storage: StorageClass = WAITS, **fields: Any) -> Setup:
    """Two zones, and a workload that mounts the claims `data` and those given."""
    names = tuple(dict.fromkeys(("data", *(one.name for one in claims))))
    pods = workload(template(claims=names))
    return Setup((N1, N2), (pods,), volumes=volumes, claims=claims, storage_classes=(storage,), **fields)


def rows(setup: Setup, *infos: NodeInfo) -> tuple[Row, ...]:
    return Scheduler(setup, 0, frozenset({HOSTNAME})).evaluate(list(infos) or [info(N1), info(N2)]).rows


def test_a_claim_that_does_not_exist_refuses_every_node_before_any_other_filter() -> None:
    found = rows(cluster(), info(node("n3", unschedulable=True), cordoned=True))

    assert (found[0].rejected_by, found[0].reason, found[0].unresolvable) == (
        "VolumeRestrictions",
        'persistentvolumeclaim "data" not found',
        True,
    )


def test_a_bound_volume_is_reached_from_its_zone_only() -> None:
    setup = cluster(claim(volume="d"), volumes=(disk("d", "b"),))

    assert refusals(rows(setup)) == ["VolumeBinding", ""]
    assert rows(setup)[0].reason == "node(s) didn't match PersistentVolume's node affinity"
    before = replace(setup, settings=Settings(kubernetes_version=(1, 26)))
    assert rows(before)[0].reason == "node(s) had volume node affinity conflict"


def test_a_claim_that_the_volume_controller_has_to_bind_keeps_its_pods_waiting() -> None:
    at_once = StorageClass("fast", "ebs.csi.aws.com")

    assert [row.reason for row in rows(cluster(claim(), storage=at_once))] == [
        "pod has unbound immediate PersistentVolumeClaims"
    ] * 2


def test_without_a_provisioner_only_nodes_with_a_free_volume_are_left() -> None:
    setup = cluster(claim(), volumes=(disk("d", "b"),), storage=LOCAL)

    assert refusals(rows(setup)) == ["VolumeBinding", ""]
    assert rows(setup)[0].reason == "node(s) didn't find available persistent volumes to bind"


@pytest.mark.parametrize(
    ("volume", "fits"),
    [
        (disk("d", capacity=1), True),
        (disk("d", capacity=0), False),
        (disk("d", storage_class="slow"), False),
        (disk("d", is_block=True), False),
        (disk("d", modes=("ReadWriteMany",)), True),
        (disk("d", claim="shop/other"), False),
    ],
)
def test_a_volume_fits_by_size_class_kind_modes_and_whom_it_is_kept_for(volume: Volume, fits: bool) -> None:
    assert bool(suitable(cluster(volumes=(volume,)), claim(), None, frozenset())) is fits


def test_a_claim_gets_the_smallest_volume_and_any_of_equals() -> None:
    volumes = disk("large", capacity=9), disk("one", capacity=2), disk("two", capacity=2)

    found = suitable(cluster(volumes=volumes), claim(), None, frozenset())

    assert [volume.name for volume in found] == ["one", "two"]


def test_a_volume_kept_for_the_claim_is_the_only_one_unless_it_is_too_small() -> None:
    kept = disk("kept", "b", capacity=5, claim="shop/data")
    setup = cluster(volumes=(disk("free"), kept))

    assert [v.name for v in suitable(setup, claim(), dict(N2.labels), frozenset())] == ["kept"]
    assert suitable(setup, claim(), dict(N1.labels), frozenset()) == []
    small = replace(setup, volumes=(disk("free", capacity=9), replace(kept, capacity=1)))
    assert [v.name for v in suitable(small, claim(request=2), None, frozenset())] == ["free"]


def test_two_claims_of_one_pod_take_two_volumes_the_smaller_claim_first() -> None:
    setup = cluster(volumes=(disk("small", capacity=2), disk("large", capacity=9)), storage=LOCAL)
    both = claim("data", 2), claim("more", 1)

    assert [[v.name for v in way] for way in ways_to_bind(setup, both, dict(N1.labels))] == [["large", "small"]]


def test_a_volume_is_made_where_the_pod_goes_and_stays_there() -> None:
    setup = cluster(claim())
    names = [volume.name for volume in possible_volumes(setup)]

    assert names == ["provisioned for shop/data in a", "provisioned for shop/data in b"]
    assert open_claims(setup) == (0,)
    assert refusals(rows(with_bindings(setup, (2,)))) == ["VolumeBinding", ""]
    assert with_bindings(setup, (0,)) == setup


def test_volumes_of_a_provisioner_without_known_topology_are_reached_from_everywhere() -> None:
    setup = cluster(claim(), storage=StorageClass("fast", "nfs.example.com", waits=True))

    assert refusals(rows(with_bindings(setup, (1,)))) == ["", ""]


def test_a_claim_whose_class_is_not_in_the_input_constrains_nothing() -> None:
    setup = cluster(claim(storage_class="unknown"))

    assert open_claims(setup) == ()
    assert refusals(rows(setup)) == ["", ""]


@pytest.mark.parametrize(
    ("key", "value", "refused"),
    [
        (ZONE, "a", ["", "VolumeZone"]),
        (ZONE, "a__b", ["", ""]),
        ("failure-domain.beta.kubernetes.io/zone", "b", ["VolumeZone", ""]),
        ("topology.kubernetes.io/region", "r", ["VolumeZone", "VolumeZone"]),
    ],
)
def test_zone_labels_of_a_volume_are_the_nodes_own(key: str, value: str, refused: list[str]) -> None:
    setup = cluster(claim(volume="d"), volumes=(disk("d", labels=((key, value),)),))

    assert refusals(rows(setup)) == refused
    bare = replace(N1, name="n3", labels=((HOSTNAME, "n3"),))
    assert refusals(rows(setup, info(bare))) == [""]


@pytest.mark.parametrize(("version", "refused"), [((1, 26), ""), ((1, 27), "VolumeRestrictions")])
def test_a_claim_for_one_pod_keeps_others_off_every_node(version: tuple[int, int], refused: str) -> None:
    setup = cluster(
        claim(volume="d", modes=("ReadWriteOncePod",)),
        volumes=(disk("d"),),
        settings=Settings(kubernetes_version=version),
    )

    assert refusals(rows(setup, info(N1, (0, 0, 1)), info(N2))) == [refused, refused]
    assert refusals(rows(setup)) == ["", ""]


def test_since_1_37_nodes_whose_volumes_are_filled_less_score_higher() -> None:
    setup = cluster(claim(request=3), volumes=(disk("d", "a", 4), disk("e", "b", 10)), storage=LOCAL)

    assert scores(rows(setup), "VolumeBinding") == [25, 70]
    before = replace(setup, settings=Settings(kubernetes_version=(1, 36)))
    assert scores(rows(before), "VolumeBinding") == [None, None]
