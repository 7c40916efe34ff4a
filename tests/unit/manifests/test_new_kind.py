"""A new kind of object is a reader and one line: it is read, checked for its version, told and verified."""

from __future__ import annotations

import pytest

from kubeproof.errors import ManifestError
from kubeproof.manifests import objects
from kubeproof.manifests.kinds.workloads import read_replica_set
from kubeproof.manifests.objects import READ_KINDS, Document, Objects, ReadKind
from kubeproof.manifests.yaml.fields import Fields
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
