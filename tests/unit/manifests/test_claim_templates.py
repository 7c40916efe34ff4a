"""volumeClaimTemplates of StatefulSets: a claim for each ordinal."""

from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import STATEFUL_SET
from kubeproof.errors import ManifestError
from kubeproof.events.declarations import Rollout, Scale
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.expansion.ordinals import revision_templates, with_ordinals
from kubeproof.model.expansion.revisions import with_revisions

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '1', memory: 1Gi, pods: '9'}}}"
FAST = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
"""
DATA = "{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}"
REF = "StatefulSet/shop/db"


def loaded(templates: str, *others: str, volumes: str = "") -> Loaded:
    text = f"""apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: shop}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: db}}}}
  template: {{metadata: {{labels: {{app: db}}}}, spec: {{volumes: [{volumes}], containers: [{{name: c}}]}}}}
  volumeClaimTemplates: [{templates}]
"""
    return load_texts([("nodes.yaml", NODE), ("db.yaml", text), *((f"{n}.yaml", o) for n, o in enumerate(others))])


def test_a_claim_template_replaces_the_volume_of_its_name() -> None:
    old = (
        "{name: data, persistentVolumeClaim: {claimName: data}}, {name: logs, persistentVolumeClaim: {claimName: logs}}"
    )
    whole = with_ordinals(loaded(DATA, FAST, volumes=old).setup, ())

    mounted = {w.name: w.template.claims for w in whole.workloads if w.owner}
    assert mounted == {f"db-{ordinal}": ("logs", f"data-db-{ordinal}") for ordinal in range(2)}


def test_every_ordinal_has_a_claim_of_its_own_with_the_default_class() -> None:
    whole = with_ordinals(loaded(DATA, FAST).setup, (Scale(name="scale", target=REF, replicas=(3,)),))

    assert [(c.key, c.request, c.storage_class) for c in whole.claims] == [
        (f"shop/data-db-{ordinal}", 2**30, "fast") for ordinal in range(3)
    ]
    mounted = {w.name: w.template.claims for w in whole.workloads if w.owner}
    assert mounted == {f"db-{ordinal}": (f"data-db-{ordinal}",) for ordinal in range(3)}


def test_revisions_share_the_claim_of_their_ordinal() -> None:
    events = (Rollout(name="rollout", target=REF),)
    read = loaded(DATA, FAST).setup
    whole = with_ordinals(with_revisions(read, events), events)

    assert [claim.name for claim in whole.claims] == ["data-db-0", "data-db-1"]
    assert [w.template.claims for w in whole.workloads if w.ordinal == 1] == [("data-db-1",)] * 2
    assert revision_templates(whole, 0) == [read.workloads[0].template] * 2


def test_a_claim_of_the_input_is_taken_over() -> None:
    claim = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0, namespace: shop}
spec: {volumeName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
    whole = with_ordinals(loaded(DATA, FAST, claim).setup, ())

    assert [(one.name, one.volume) for one in whole.claims] == [("data-db-0", "disk"), ("data-db-1", "")]
    assert all(w.kind == STATEFUL_SET for w in whole.workloads)


def test_what_is_open_is_listed_and_what_is_wrong_refused() -> None:
    listed = loaded(DATA.replace("spec: {", "spec: {storageClassName: slow, ")).omissions

    assert any("storage of PersistentVolumeClaim" in omission.what for omission in listed)
    with pytest.raises(
        ManifestError, match=r"db.yaml:8: StatefulSet/shop/db: spec.volumeClaimTemplates\[1\].metadata.name"
    ):
        loaded(f"{DATA}, {DATA}")
