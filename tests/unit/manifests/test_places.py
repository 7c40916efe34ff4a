"""Where a field is written: file and line."""

from __future__ import annotations

import pytest

from kubeproof.manifests.editing.places import find_place

WEB = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    spec:
      tolerations:
      - key: a
      - key: b
"""
MANY = """apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
  spec:
    replicas: 2
"""
POLICY = """# ours
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles: []
"""
TEXTS = (("bad.yaml", "a: [web"), ("web.yaml", f"# first\n---\n{WEB}"), ("many.yaml", MANY), ("policy.yaml", POLICY))


@pytest.mark.parametrize(
    ("ref", "field", "place"),
    [
        ("Deployment/default/web", "spec.replicas", "web.yaml:7"),
        ("Deployment/default/web", "spec.template.spec.tolerations[1].key", "web.yaml:12"),
        ("Deployment/default/web", "spec.template.spec.containers[0].image", "web.yaml:9"),  # what would hold it
        ("Deployment/default/web", "", "web.yaml:3"),
        ("Deployment/shop/web", "spec.replicas", "many.yaml:8"),
        ("DeschedulerPolicy", "profiles", "policy.yaml:4"),  # the first of its kind
    ],
)
def test_the_line_of_a_field_is_found(ref: str, field: str, place: str) -> None:
    assert str(find_place(TEXTS, ref, field)) == place


def test_what_is_in_no_file_has_no_place() -> None:
    assert find_place(TEXTS, "Deployment/shop/other", "spec.replicas") is None
