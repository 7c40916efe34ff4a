"""A mark in every field of the API, in objects of every kind: only what is read gets out, and no name if anonymised.

The fields come from the OpenAPI document of Kubernetes and from the definitions of custom resources.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

import kubeproof
from kubeproof.live.anonymize import Anonymizer
from kubeproof.live.keep import READERS, keep
from kubeproof.live.known_words import KEYS, PROVISIONERS, WORDS
from kubeproof.live.resources import BY_KIND
from kubeproof.manifests.objects import Document, unpack
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.reads import Reads
from kubeproof.manifests.yaml.reduced_text import write_reduced
from kubeproof.manifests.yaml.tree import tree_of
from kubeproof.network.kubernetes.reader import read_alone as read_network
from tests.unit.live.markers import KINDS, RIVALS, TYPES, VALUES, Marker, marks_in

ALL_READERS = (*READERS, read_network)
# What the model reads, and a snapshot therefore holds: texts, keys of maps and numbers. A field that a reader begins to
# read is added here by hand, so that somebody has thought about it.
KEPT = {
    "Application.spec": "destination.namespace ignoreDifferencesItem.kind ignoreDifferencesItem.name "
    "ignoreDifferencesItem.namespace",
    "Container": "image name",
    "ContainerImage": "names sizeBytes",
    "ContainerPort": "hostIP name",
    "ContainerResourceMetricSource": "container",
    "CronJobSpec": "startingDeadlineSeconds",
    "CrossVersionObjectReference": "name",
    "DaemonSetSpec": "minReadySeconds",
    "DeploymentSpec": "progressDeadlineSeconds replicas",
    "EmptyDirVolumeSource": "medium",
    "HPAScalingPolicy": "value",
    "HPAScalingRules": "tolerance",
    "HorizontalPodAutoscalerSpec": "maxReplicas",
    "ImageVolumeSource": "reference",
    "IngressServiceBackend": "name",
    "JobCondition": "type",
    "JobSpec": "activeDeadlineSeconds backoffLimit completions parallelism ttlSecondsAfterFinished",
    "LabelSelector": "matchLabels",
    "LabelSelectorRequirement": "key values",
    "LimitRangeItem": "default defaultRequest max maxLimitRequestRatio min",
    "MetricIdentifier": "name",
    "MetricTarget": "averageValue value",
    "NodeCondition": "status type",
    "NodeSelectorRequirement": "key values",
    "NodeStatus": "allocatable capacity",
    "ObjectMeta": "deletionTimestamp labels name namespace",
    "ObjectReference": "name namespace",
    "OwnerReference": "kind name",
    "PersistentVolumeClaimSpec": "storageClassName volumeName",
    "PersistentVolumeClaimVolumeSource": "claimName",
    "PersistentVolumeSpec": "capacity storageClassName",
    "PodAffinityTerm": "matchLabelKeys mismatchLabelKeys namespaces topologyKey",
    "PodCondition": "status type",
    "PodSpec": "activeDeadlineSeconds nodeName nodeSelector overhead priority priorityClassName schedulerName "
    "terminationGracePeriodSeconds",
    "PodStatus": "phase",
    "PriorityClass": "value",
    "Probe": "initialDelaySeconds periodSeconds successThreshold",
    "ReplicaSetSpec": "minReadySeconds replicas",
    "ReplicationControllerSpec": "minReadySeconds replicas",
    "ResourceQuotaSpec": "hard",
    "ResourceRequirements": "requests",
    "RollingUpdateStatefulSetStrategy": "partition",
    "ScopedResourceSelectorRequirement": "values",
    "ServicePort": "name targetPort",
    "ServiceSpec": "selector",
    "SleepAction": "seconds",
    "StatefulSetOrdinals": "start",
    "StatefulSetSpec": "minReadySeconds replicas",
    "StorageClass": "provisioner",
    "Taint": "key value",
    "Toleration": "key tolerationSeconds value",
    "TopologySelectorLabelRequirement": "key values",
    "TopologySpreadConstraint": "matchLabelKeys maxSkew minDomains topologyKey",
    "VerticalPodAutoscaler.spec": "resourcePolicy.containerPoliciesItem.containerName "
    "resourcePolicy.containerPoliciesItem.maxAllowed resourcePolicy.containerPoliciesItem.minAllowed targetRef.name "
    "updatePolicy.minReplicas",
    "Volume": "name",
    "VolumeResourceRequirements": "requests",
}
ALLOWED = {f"{name}.{field}" for name, fields in KEPT.items() for field in fields.split()}


@cache
def marked(kind):
    """The marked object, and others with fields that exclude some of its own."""
    found = [Marker(kind, added) for added in ("", *RIVALS)]
    return [marker for marker in found if marker is found[0] or marker.object != found[0].object]


def document_of(item):
    return Document(item["kind"], item["apiVersion"], tree_of(item), "marked.yaml")


def places(marker, value):
    return {marker.places[mark] for mark in marks_in(value) if mark in marker.places}


def test_every_kind_of_a_snapshot_is_marked_in_every_field():
    assert set(KINDS) == set(BY_KIND)
    given = set(RIVALS)
    for kind in KINDS:
        for marker in marked(kind):
            given |= set(marker.places.values())
    leaves = {
        f"{name}.{field}" for name in TYPES for field, kind in TYPES[name].items()
        if kind in ("string", "any", "time", "quantity", "intOrString", "integer") or isinstance(kind, dict)
    }  # fmt: skip
    assert leaves - given - set(VALUES) - {"MetricSpec.type"} == set()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_only_what_is_read_is_in_a_snapshot(kind):
    for marker in marked(kind):
        assert places(marker, keep(marker.object, ALL_READERS)) - ALLOWED == set()


def test_all_that_is_allowed_is_read():
    found = set()
    for kind in KINDS:
        for marker in marked(kind):
            found |= places(marker, keep(marker.object, ALL_READERS))

    assert found == ALLOWED


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_readers_read_marked_objects_to_the_end_also_after_they_were_kept_and_renamed(kind):
    marker = marked(kind)[0]
    kept = keep(marker.object, ALL_READERS)
    for item in (marker.object, kept, Anonymizer()(kept)):
        for reader in ALL_READERS:
            reader(document_of(item))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nobody_is_named_in_an_anonymised_snapshot(kind):
    rename = Anonymizer()
    for marker in marked(kind):
        kept = rename(keep(marker.object, ALL_READERS, hides_unknown=True))

        assert [mark for mark in marks_in(kept) if mark in marker.places and isinstance(mark, str)] == []
        assert places(marker, kept) <= ALLOWED


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_saved_results_hold_no_more_than_snapshots(kind):
    for marker in marked(kind):
        text = json.dumps(marker.object)
        reads = Reads()
        (root,) = read_documents(text.encode(), file="marked.yaml", budget=Budget(Bounds()))
        for document in unpack(root, "marked.yaml", reads):
            keep_reading(document)

        assert places(marker, write_reduced([root], reads)) - ALLOWED == set()


def keep_reading(document):
    for reader in READERS:
        try:
            reader(document)
        except kubeproof.errors.ManifestError:
            continue  # a rival


def test_words_that_readers_choose_from_stay(monkeypatch):
    asked, plain = set(), Fields.word

    def word(self, key, allowed, default):
        asked.update(allowed)
        return plain(self, key, allowed, default)

    monkeypatch.setattr(Fields, "word", word)
    for kind in KINDS:
        keep(marked(kind)[0].object, ALL_READERS)

    assert len(asked) > 40
    assert asked - WORDS == set()


def test_keys_that_the_model_knows_by_name_stay():
    folder = Path(kubeproof.__file__).parent
    rooms = ("cluster", "controllers", "model", "manifests", "network", "events", "intents")
    files = [file for room in rooms for file in (folder / room).rglob("*.py")]
    key = re.compile(r'"([a-z.-]*[a-z]\.(?:io|com|org)/[a-z.-]+)"')
    keys = {text for file in files for text in key.findall(file.read_text(encoding="utf-8"))}

    assert len(keys) > 30
    assert keys - KEYS - PROVISIONERS == set()
