"""A change of a manifest writes one place and leaves every other byte as it was, or is refused."""

from __future__ import annotations

import pytest

from kubeproof.manifests.editing.operations import apply, drop, put, settle
from kubeproof.manifests.editing.patches import kustomize_patch
from kubeproof.manifests.editing.splicing import CannotSpliceError, append_object, read_plain, splice
from kubeproof.manifests.editing.written import list_written, rewrite

DEPLOYMENT = """# The shop's web pods.
apiVersion: apps/v1
kind: Deployment   # not a StatefulSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 2      # two are enough
  template:
    spec:
      containers:
      - name: web  # the only one
        image: "web:1"
      # nothing else

      tolerations: []
---
# Another document.
kind: Service
apiVersion: v1
metadata:
  name: web
"""


def lines_that_differ(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are gone, and lines that are new; all others stand in their order."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_a_number_changes_and_its_comment_stays():
    after = splice(DEPLOYMENT, 0, (put("spec", "replicas", value=3),))

    assert after == DEPLOYMENT.replace("replicas: 2 ", "replicas: 3 ")


def test_a_new_field_stands_behind_the_first_short_ones():
    after = splice(DEPLOYMENT, 0, (put("spec", "strategy", "type", value="Recreate"),))

    assert after == DEPLOYMENT.replace("# two are enough\n", "# two are enough\n  strategy:\n    type: Recreate\n")


def test_a_field_of_a_flow_mapping_stands_in_it():
    after = splice(DEPLOYMENT, 0, (put("metadata", "labels", value={"a": "yes"}),))

    assert lines_that_differ(DEPLOYMENT, after) == (
        ["metadata: {name: web, namespace: shop}\n"],
        ['metadata: {name: web, namespace: shop, labels: {a: "yes"}}\n'],
    )


def test_an_item_of_an_empty_list_in_brackets():
    entry = {"key": "a", "operator": "Exists"}
    after = splice(DEPLOYMENT, 0, (put("spec", "template", "spec", "tolerations", 0, value=entry),))

    assert "      tolerations: [{key: a, operator: Exists}]\n" in after


def test_an_item_of_a_block_list_stands_behind_the_last_one():
    after = splice(DEPLOYMENT, 0, (put("spec", "template", "spec", "containers", 1, value={"name": "b"}),))

    assert '        image: "web:1"\n      - name: b\n      # nothing else\n' in after


def test_a_field_that_goes_takes_its_line_along():
    assert splice(DEPLOYMENT, 0, (drop("spec", "replicas"),)) == DEPLOYMENT.replace(
        "  replicas: 2      # two are enough\n", ""
    )


def test_what_would_be_left_empty_goes_as_a_whole():
    after = splice(DEPLOYMENT, 1, (drop("metadata", "name"),))

    assert after == DEPLOYMENT.replace("metadata:\n  name: web\n", "")


def test_line_ends_of_windows_stay():
    text = DEPLOYMENT.replace("\n", "\r\n")
    after = splice(text, 0, (put("spec", "minReadySeconds", value=5), put("spec", "replicas", value=3)))

    assert after == text.replace("replicas: 2 ", "replicas: 3 ").replace(
        "# two are enough\r\n", "# two are enough\r\n  minReadySeconds: 5\r\n"
    )


def test_a_file_without_a_last_line_end_keeps_it_so():
    assert splice("a:\n  b: 1", 0, (put("a", "c", value=2),)) == "a:\n  b: 1\n  c: 2"


def test_json_stays_json():
    text = '{"kind": "Deployment",\n "spec": {"replicas": 2}}\n'

    assert splice(text, 0, (put("spec", "strategy", value={"type": "Recreate"}),)) == (
        '{"kind": "Deployment",\n "spec": {"replicas": 2, "strategy": {"type": "Recreate"}}}\n'
    )


def test_a_value_without_text_gets_one():
    assert splice("spec:\n  replicas:\n  a: 1\n", 0, (put("spec", "replicas", value=3),)) == (
        "spec:\n  replicas: 3\n  a: 1\n"
    )


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        pytest.param("a: &x {b: 1}\nc: *x\n", put("c", "b", value=2), id="alias"),
        pytest.param("a: &x 1\nc: *x\n", put("a", value=2), id="anchor"),
        pytest.param("a: &x {b: 1}\nc: *x\n", put("a", "b", value=2), id="shared"),
        pytest.param("a: |\n  text\n", put("a", value=2), id="block of text"),
        pytest.param("a: # why\n- b\n", put("a", value=[1]), id="comment in the value"),
        pytest.param("l:\n- a: 1\n  # of b\n  b: 2\n", drop("l", 0, "a"), id="comment behind the first key"),
    ],
)
def test_what_has_no_place_of_its_own_is_refused(text, operation):
    with pytest.raises(CannotSpliceError):
        splice(text, 0, (operation,))


def test_a_key_that_a_merge_gives_is_written_beside_it():
    text = "a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n"

    assert read_plain(splice(text, 0, (put("c", "b", value=2),)), "f")[0]["c"] == {"b": 2, "d": 1}


def test_new_objects_stand_at_the_end():
    assert append_object("a: 1\n", {"b": [1]}) == "a: 1\n---\nb:\n  - 1\n"
    assert append_object("a: 1", {"b": 1}) == "a: 1\n---\nb: 1\n"
    assert append_object("a: 1\r\n", {"b": 1}) == "a: 1\r\n---\r\nb: 1\r\n"


def test_what_is_missing_above_becomes_part_of_the_value():
    assert settle({"a": {}}, put("a", "b", 0, "c", value=1)) == put("a", "b", value=[{"c": 1}])
    assert apply({"l": [1]}, (put("l", 1, value=2), drop("l", 0))) == {"l": [2]}


def test_questions_and_objects_of_one_name_are_no_manifests_to_change():
    scenario = "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\n"
    twice = "kind: Service\nmetadata: {name: a}\n---\nkind: Service\nmetadata: {name: a, namespace: default}\n"

    assert list_written((("a.yaml", scenario), ("b.yaml", twice))) == ()


def test_items_of_lists_are_changed_where_they_stand():
    text = "kind: List\napiVersion: v1\nitems:\n- kind: Service\n  metadata: {name: a}\n"
    (one,) = list_written((("a.yaml", text),))

    after = rewrite((("a.yaml", text),), [(one, (put("spec", "type", value="NodePort"),))], [])

    assert one.ref == "Service/default/a"
    assert read_plain(after.texts[0][1], "a")[0]["items"][0]["spec"] == {"type": "NodePort"}


def test_a_file_that_cannot_be_changed_in_place_is_written_anew_and_named():
    text = "kind: Service\nmetadata: {name: a}\nspec: &x {type: A}\nother: *x\n"
    (one,) = list_written((("a.yaml", text),))

    after = rewrite((("a.yaml", text),), [(one, (put("spec", "type", value="B"),))], [])

    assert [file for file, _ in after.refused] == ["a.yaml"]
    assert read_plain(after.texts[0][1], "a")[0]["spec"] == {"type": "B"}


def test_a_patch_for_kustomize_says_the_same():
    (one, _) = list_written((("a.yaml", DEPLOYMENT),))
    operations = (put("spec", "replicas", value=3), drop("spec", "template", "spec", "tolerations"),
                  put("metadata", "labels", "a/b", value="c"))  # fmt: skip

    assert kustomize_patch([(one, operations)], []) == (
        "patches:\n"
        "- target: {group: apps, version: v1, kind: Deployment, name: web, namespace: shop}\n"
        "  patch: |-\n"
        '    - {"op": "replace", "path": "/spec/replicas", "value": 3}\n'
        '    - {"op": "remove", "path": "/spec/template/spec/tolerations"}\n'
        '    - {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}}\n'
    )
