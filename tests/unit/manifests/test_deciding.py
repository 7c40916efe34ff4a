"""Every field that is not modelled is classified: about whom it may decide."""

from __future__ import annotations

from kubeproof.manifests.validation.deciding import ALL, DECIDES, NOTHING, OWN, RESTARTS, decides, find_held_back
from kubeproof.manifests.validation.schema import FIELDS


def test_every_field_that_is_not_modelled_says_about_whom_it_may_decide() -> None:
    not_modelled = {(schema, name) for schema, known in FIELDS.items() for name, why in known.items() if why is None}

    assert not_modelled == set(DECIDES)


def test_a_field_that_nobody_thought_of_decides_about_all() -> None:
    assert decides("PodSpec", "brandNew") == ALL
    assert decides("PodSpec", "readinessGates") == OWN
    assert decides("Container", "startupProbe") == NOTHING
    assert decides("Container", "restartPolicyRules") == RESTARTS


def test_a_bound_of_a_quota_decides_about_those_who_create_what_it_counts() -> None:
    assert find_held_back("count/replicasets.apps", "shop") == "Deployment/shop/*"
    assert find_held_back("gold.storageclass.storage.k8s.io/requests.storage", "shop") == "StatefulSet/shop/*"
    assert find_held_back("PersistentVolumeClaim", "shop") == "StatefulSet/shop/*"
    assert find_held_back("services", "shop") == NOTHING
