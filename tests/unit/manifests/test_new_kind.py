"""A new kind of object is a reader and one line: it is read, checked for its version, told and verified."""

from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import KINDS, REPLICA_SET
from kubeproof.errors import ManifestError
from kubeproof.live.resources import list_resources
from kubeproof.manifests import objects
from kubeproof.manifests.kinds import catalogue
from kubeproof.manifests.kinds.catalogue import READ_KINDS, ReadKind
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.kinds.workloads import ReadWorkload, read_replica_set, read_replicated, selector_and_template
from kubeproof.manifests.objects import Document, Objects, unpack
from kubeproof.manifests.wiring import read_wiring
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.values import dataclass, replace
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web


def read_flock(fields: Fields, _: Document, found: Objects) -> None:
    """A Flock keeps its pods as a ReplicaSet does."""
    found.workloads.append(read_replica_set(fields))


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**READ_KINDS, "Flock": ReadKind("Flock", ("birds.example/v1",), read_flock)}
    monkeypatch.setattr(objects, "READ_KINDS", known)


FLOCK = web(2).replace("kind: Deployment", "kind: Flock").replace("apps/v1", "birds.example/v1")


def test_it_is_read_and_verified() -> None:
    intent = "{minReady: {target: ReplicaSet/shop/web, count: 2, when: eventuallyAlways}}"

    assert only(verified(node("a"), FLOCK, scenario(intent))).verdict == Verdict.HOLDS
    assert not [one for one in loaded(node("a"), FLOCK, scenario(intent)).omissions if "Flock" in one.what]


def test_another_version_of_it_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"Write apiVersion: birds\.example/v1"):
        loaded(node("a"), FLOCK.replace("birds.example/v1", "birds.example/v2"), scenario("{settles: {}}"))


def test_a_kind_of_that_name_in_another_group_is_another_kind() -> None:
    read = loaded(node("a"), web(1), FLOCK.replace("birds.example/v1", "sheep.example/v1"), scenario("{settles: {}}"))

    assert any("Flock" in one.what for one in read.omissions)


# -- a kind that is no workload, with a value of its own ------------------------------------------


@dataclass(frozen=True, slots=True)
class Fence:
    """What of it matters to loops."""

    name: str
    height: int


def read_fence(fields: Fields, _: Document, found: Objects) -> None:
    name, height = read_metadata(fields, namespaced=False).name, fields.integer("height") or 0
    found.others.append(Fence(name, height))
    fields.finish("Fence", {})


FENCE = "apiVersion: birds.example/v1\nkind: Fence\nmetadata: {name: north}\nheight: 3\n"


@pytest.fixture
def _with_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ReadKind("Fence", ("birds.example/v1",), read_fence, "fences", is_cluster_wide=True, is_custom=True)
    monkeypatch.setattr(objects, "READ_KINDS", {**READ_KINDS, "Fence": line})
    monkeypatch.setattr(catalogue, "READ_KINDS", {**READ_KINDS, "Fence": line})


@pytest.mark.usefixtures("_with_fences")
def test_its_value_is_kept_where_loops_find_it() -> None:
    setup = loaded(node("a"), web(1), FENCE, scenario("{settles: {}}")).setup

    assert setup.list_others(Fence) == (Fence("north", 3),)
    assert setup.list_others(Document) == ()


@pytest.mark.usefixtures("_with_fences")
def test_it_is_read_from_clusters_as_its_line_says() -> None:
    (found,) = [one for one in list_resources() if one.kind == "Fence"]

    assert (found.path("shop"), found.is_optional) == ("/apis/birds.example/v1/fences", True)


# -- a kind of workload ---------------------------------------------------------------------------

SWARM = replace(KINDS[REPLICA_SET], name="Swarm", version="birds.example/v1", plural="swarms", turn=9)
SWARMING = web(2).replace("kind: Deployment", "kind: Swarm").replace("apps/v1", "birds.example/v1")


def read_swarm(fields: Fields) -> ReadWorkload:
    spec = fields.require_child("spec")
    selector, template = selector_and_template(spec)
    bird = spec.child("bird")
    if bird is not None:
        bird.finish("Bird", {"song": "record", "leader": None})
    return read_replicated(fields, spec, "Swarm", template, selector)


@pytest.fixture
def _with_swarms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "Swarm", SWARM)
    monkeypatch.setitem(catalogue.WORKLOAD_READERS, "Swarm", read_swarm)
    known = {**READ_KINDS, "Swarm": ReadKind("Swarm", (SWARM.version,), catalogue._workload)}
    monkeypatch.setattr(objects, "READ_KINDS", known)


@pytest.mark.usefixtures("_with_swarms")
def test_a_kind_of_workload_is_read_searched_and_named_by_what_it_is_like() -> None:
    intent = "{minReady: {target: Swarm/shop/web, count: 2, when: eventuallyAlways}}"
    result = verified(node("a"), SWARMING, scenario(intent))

    assert only(result).verdict == Verdict.HOLDS
    assert any(name.startswith("replicaset") for name, _ in result.statistics.acted)


@pytest.mark.usefixtures("_with_swarms")
def test_a_custom_kind_brings_the_table_of_what_it_does_not_use() -> None:
    told = SWARMING.replace("  replicas: 2", "  bird: {song: loud, leader: web-1}\n  replicas: 2")

    omitted = [one.what for one in loaded(node("a"), told, scenario("{settles: {}}")).omissions]
    assert omitted == ["field spec.bird.leader of Swarm/shop/web"]


@pytest.mark.usefixtures("_with_swarms")
def test_pods_of_a_custom_kind_are_found_where_its_template_stands() -> None:
    (document,) = unpack(next(iter(read_documents(SWARMING.encode(), file="in.yaml", budget=Budget(Bounds())))), "in")

    (pods,) = read_wiring([document]).pods
    assert pods.ref == "Swarm/shop/web"
