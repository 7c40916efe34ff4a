"""What can be set in manifests, and what a setting makes of them."""

from pathlib import Path

import pytest

from kubeproof.errors import UsageError
from kubeproof.manifests.editing.splicing import CannotSpliceError, read_plain, remove_document
from kubeproof.manifests.editing.written import list_written
from kubeproof.manifests.load import load_texts
from kubeproof.tune.knobs import list_keys, make_knobs
from kubeproof.tune.values import parse_asked
from kubeproof.verify.fix.inputs import change, open_input

NODE = """apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "110"}}}}
"""
WEB = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2  # for a start
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1, resources: {requests: {cpu: 500m, memory: 64Mi}}}]}
"""
SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}
"""
NODES = "---\n".join(NODE.format(name=f"n{at}", zone="east" if at % 2 else "west", cpu=4) for at in range(3))


@pytest.fixture
def setting_of(tmp_path, monkeypatch):
    """The files after the first knob that was asked for gets one of its values."""
    monkeypatch.chdir(tmp_path)
    return apply_setting


def apply_setting(asked, *texts, choose=0):
    files = tuple((f"{at}.yaml", text) for at, text in enumerate(texts))
    for name, text in files:
        Path(name).write_text(text, encoding="utf-8")
    given = open_input(load_texts(files))
    (knob,) = make_knobs(given.objects, [parse_asked(asked)], ())
    edit = knob.edit(choose)
    rewritten = change(given, [edit] if edit else [])
    return knob.knob, dict(rewritten.texts), load_texts(rewritten.texts)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("hpa.targetCPU=55", "averageUtilization: 55}}"),
        ("hpa.minReplicas=1", "  minReplicas: 1\n"),
        ("HorizontalPodAutoscaler/shop/web.maxReplicas=5", "  maxReplicas: 5\n"),
        ("hpa.scaleDownWindow=60", "stabilizationWindowSeconds: 60"),
        ("hpa.scaleUpWindow=0,45s", None),
    ],
)
def test_fields_of_autoscalers_are_written_in_place(setting_of, asked, line):
    knob, texts, loaded = setting_of(asked, WEB, SCALER, NODES)

    if line is None:
        assert knob.values == ("0s", "45s")
        assert knob.now == 0
        assert texts["1.yaml"] == SCALER
    else:
        assert line in texts["1.yaml"]
    assert len(loaded.setup.autoscalers) == 1


def test_replicas_keep_their_comment(setting_of):
    knob, texts, _ = setting_of("Deployment/shop/web.replicas=4", WEB, NODES, choose=1)

    assert knob.values == ("2", "4")
    assert knob.now == 0
    assert "  replicas: 4  # for a start\n" in texts["0.yaml"]


def test_replicas_of_an_autoscaler_are_not_set(setting_of):
    with pytest.raises(UsageError, match="the input has no such field"):
        setting_of("Deployment/shop/web.replicas=4", WEB, SCALER, NODES)


def test_requests_are_set_as_amounts(setting_of):
    knob, texts, loaded = setting_of("Deployment/shop/web.cpuRequest=0.25,1", WEB, NODES)

    assert knob.values == ("250m", "500m", "1")
    assert 'cpu: "250m"' in texts["0.yaml"]
    assert loaded.setup.workloads[0].template.containers[0].cpu_milli == 250


def test_nodes_go_from_the_end(setting_of):
    knob, texts, loaded = setting_of("nodes=1,2", WEB, NODES)

    assert knob.values == ("1", "2", "3")
    assert [node.name for node in loaded.setup.nodes] == ["n0"]
    assert texts["1.yaml"] == NODE.format(name="n0", zone="west", cpu=4)


def test_nodes_come_as_copies_in_the_zones_in_turn(setting_of):
    _, _, loaded = setting_of("nodes=5", WEB, NODES, choose=1)

    assert [(node.name, dict(node.labels)["topology.kubernetes.io/zone"]) for node in loaded.setup.nodes] == [
        ("n0", "west"), ("n1", "east"), ("n2", "west"), ("n0-1", "east"), ("n0-2", "west"),
    ]  # fmt: skip
    assert len({dict(node.labels)["kubernetes.io/hostname"] for node in loaded.setup.nodes}) == 5


def test_each_kind_of_equal_nodes_has_its_own_number():
    large = NODE.format(name="large", zone="east", cpu=16)
    given = open_input(load_texts((("a.yaml", f"{NODES}---\n{large}---\n{WEB}"),)))

    both = make_knobs(given.objects, [parse_asked("nodes=1..4")], ())
    one = make_knobs(given.objects, [parse_asked("nodes.large=1..4")], ())

    assert [(knob.knob.key, knob.knob.now) for knob in both] == [("nodes.n0", 2), ("nodes.large", 0)]
    assert [knob.knob.key for knob in one] == ["nodes.large"]


def test_without_a_wish_what_serves_and_nodes_may_be_set():
    given = open_input(load_texts((("a.yaml", f"{NODES}---\n{WEB}---\n{SCALER}"),)))

    keys = [one.knob.key for one in make_knobs(given.objects, (), ["Deployment/shop/web"])]

    assert keys == [
        "Deployment/shop/web.cpuRequest",
        "HorizontalPodAutoscaler/shop/web.targetCPU",
        "HorizontalPodAutoscaler/shop/web.minReplicas",
        "HorizontalPodAutoscaler/shop/web.maxReplicas",
        "HorizontalPodAutoscaler/shop/web.scaleDownWindow",
        "nodes",
    ]


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("hpa.targetCPU", "has no values"),
        ("=4", "has no values"),
        ("nodes=5..2", "no range"),
        ("nodes=1..9999", "no range"),
        ("nodes=0", "not a whole number from 1"),
        ("nodes.n9=1", "there is no node n9"),
        ("hpa.minReplicas=x", "not a whole number from 1"),
        ("hpa.scaleDownWindow=2h", "not a duration up to 1h"),
        ("Deployment/shop/web.cpuRequest=-1", "not an amount above zero"),
        ("Deployment/shop/other.replicas=1", "the input has no such field"),
        ("hpa.colour=1", "the input has no such field"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(setting_of, asked, problem):
    with pytest.raises(UsageError, match=problem):
        setting_of(asked, WEB, SCALER, NODES)


def test_a_field_is_set_once():
    given = open_input(load_texts((("a.yaml", f"{NODES}---\n{WEB}"),)))

    with pytest.raises(UsageError, match="names nodes twice"):
        make_knobs(given.objects, [parse_asked("nodes=1"), parse_asked("nodes=2")], ())


def test_one_value_is_nothing_to_set():
    given = open_input(load_texts((("a.yaml", f"{NODES}---\n{WEB}"),)))

    with pytest.raises(UsageError, match="nothing to set"):
        make_knobs(given.objects, [parse_asked("nodes=3")], ())


def test_every_key_that_is_listed_is_known():
    given = open_input(load_texts((("a.yaml", f"{NODES}---\n{WEB}"), ("b.yaml", SCALER))))
    own = [key.replace("NAMESPACE/NAME", "shop/web") for key, _ in list_keys()]
    values = {"cpuRequest": "1", "memoryRequest": "1Gi", "scaleDownWindow": "60s", "scaleUpWindow": "60s"}

    for key in own:
        asked = [parse_asked(f"{key}={values.get(key.rpartition('.')[2], '3,4')}")]
        if not key.endswith(".replicas"):
            assert make_knobs(given.objects, asked, ())


@pytest.mark.parametrize("number", range(3))
def test_a_document_is_taken_out_and_every_other_byte_stays(number):
    parts = ["# one\na: 1\n", "# two\nb:\n- 2\n", "c: {d: 3}  # three\n"]
    text = "---\n".join(parts)

    left = remove_document(text, number)

    assert left == "---\n".join(part for at, part in enumerate(parts) if at != number)
    assert read_plain(left, "") == [one for at, one in enumerate(read_plain(text, "")) if at != number]


def test_a_document_that_starts_with_a_mark_goes_with_it():
    assert remove_document("---\na: 1\n---\nb: 2\n", 0) == "---\nb: 2\n"
    assert remove_document("---\na: 1\n---\nb: 2\n", 1) == "---\na: 1\n"


def test_a_document_that_is_not_there_is_refused():
    with pytest.raises(CannotSpliceError):
        remove_document("a: 1\n--- {b: 2}\n", 2)


def test_nodes_of_a_list_go_as_items(setting_of):
    def item(name):
        lines = NODE.format(name=name, zone="z", cpu=4).splitlines(keepends=True)
        return "".join(f"{'  ' if at else '- '}{line}" for at, line in enumerate(lines))

    listed = f"apiVersion: v1\nkind: List\nitems:\n{item('n1')}{item('n2')}"

    _, texts, loaded = setting_of("nodes=1", WEB, listed)

    assert [node.name for node in loaded.setup.nodes] == ["n1"]
    assert [one.name for one in list_written(tuple(texts.items())) if one.kind == "Node"] == ["n1"]
