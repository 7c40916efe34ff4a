"""Reading what people have: files that are no manifests, objects that come twice, objects that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.errors import HostileInputError, ManifestError, ScenarioError
from kubeproof.manifests.load import load, load_texts
from kubeproof.manifests.loaded import Loaded, ReadingNote
from kubeproof.manifests.yaml.guard import Bounds
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

REFUSED = deployment("old").replace("apps/v1", "extensions/v1beta9")
OUTDATED = deployment("old").replace("apps/v1", "extensions/v1beta1").replace("selector:", "minReadySeconds: 5, s:")


def write(folder: Path, **texts: str) -> None:
    """Files in a directory; two underscores stand for a dot, one for a dash."""
    for name, text in texts.items():
        (folder / name.replace("__", ".").replace("_", "-")).write_text(text)


def read_all(folder: Path) -> Loaded:
    """The directory, read as the commands read it."""
    return load(folder, is_tolerant=True)


def told(loaded: Loaded) -> list[tuple[str, str, str]]:
    """IDs, severities and places of the notes."""
    return [(n.id, n.severity, f"{Path(n.source.file).name}:{n.source.line}") for n in loaded.notes]


def refs(loaded: Loaded) -> list[str]:
    return [workload.ref for workload in loaded.setup.workloads]


# -- files that are no manifests ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("values.yaml", "replicas: 3\nkind: ClusterIP\n", "it has no apiVersion and kind"),
        ("compose.yml", "services: {web: {image: nginx}}\n", "it has no apiVersion and kind"),
        ("dashboard.json", '{"panels": [{"kind": "x"}], "apiVersion": 1}', "it has no apiVersion and kind"),
        ("datasource.yaml", "apiVersion: 1\ndatasources: []\n# kind\n", "it has no apiVersion and kind"),
        ("patch.yaml", "- {op: replace, path: /spec/replicas, value: 3}\n", "it has no apiVersion and kind"),
        ("cloud.yaml", "Resources: !Ref x\n", "it has no apiVersion and kind"),
        ("cloud2.yaml", "apiVersion: !Ref kind\n", "not YAML that can be read"),
        ("words.yaml", "a: b: c\n", "it has no apiVersion and kind"),
        ("skaffold.yaml", "apiVersion: skaffold/v2beta1\nkind: Config\n", "settings of another tool"),
        ("kubeconfig.yaml", "apiVersion: v1\nkind: Config\nclusters: []\n", "settings of another tool"),
        ("web.yaml.yaml", deployment().replace("web", "{{ .Values.name }}"), "a template"),
        ("web.yaml", deployment().replace("name: web", "name: '${NAME}'"), "a template with ${ … }"),
        ("job.yaml", deployment().replace("shop", "$(namespace)"), "a template with ${ … }"),
        (
            "scheduler.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n",
            "settings of another tool",
        ),
        ("if.yaml", "{{ if .Values.on }}\napiVersion: v1\nkind: Pod\n{{ end }}\n", "a template"),
    ],
)
def test_a_file_in_a_directory_that_is_no_manifest_is_left_out_with_a_note(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / "a.yaml").write_text(deployment())
    (tmp_path / name).write_text(text)
    loaded = read_all(tmp_path)

    assert refs(loaded) == ["Deployment/shop/web"]
    assert [(n.id, n.severity, n.what) for n in loaded.notes] == [("R001", "note", str(tmp_path / name))]
    assert reason in loaded.notes[0].why


def test_files_left_out_for_one_reason_are_one_note(tmp_path: Path) -> None:
    write(tmp_path, web__yaml=deployment(), values__yaml="a: 1\n", b__json="{}", c__yaml="[1]")
    (note,) = read_all(tmp_path).notes

    assert note.what == f"{tmp_path}/b.json and 2 more"
    assert [Path(place.file).name for place in (note.source, *note.also)] == ["b.json", "c.yaml", "values.yaml"]


def test_a_file_of_comments_needs_no_note(tmp_path: Path) -> None:
    write(tmp_path, web__yaml=deployment(), none__yaml="---\n# nothing yet\n\n---\n")

    assert read_all(tmp_path).notes == ()


def test_a_named_file_that_is_no_manifest_is_refused(tmp_path: Path) -> None:
    write(tmp_path, values__yaml="a: 1\n")

    with pytest.raises(ManifestError, match="apiVersion is required"):
        load(tmp_path / "values.yaml", is_tolerant=True)


@pytest.mark.parametrize("text", ["kind: Pod\nmetadata: {name: a}\n", "apiVersion: v1\nmetadata: {name: a}\n"])
def test_an_object_without_a_kind_or_version_is_an_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, web__yaml=deployment(), wrong__yaml=f"{text}# apiVersion, kind\n")

    assert told(read_all(tmp_path)) == [("R003", "error", "wrong.yaml:1")]


def test_what_is_written_in_other_letters_is_not_hidden(tmp_path: Path) -> None:
    escaped = '{"apiVersion": "v1", "\\u006bind": "Namespace", "metadata": {"name": "shop"}}'
    write(tmp_path, web__yaml=deployment(), space__json=escaped)

    assert [name for name, _ in read_all(tmp_path).setup.namespaces] == ["shop"]


# -- files and objects that are refused -----------------------------------------------------------


def test_one_bad_object_hides_neither_its_file_nor_the_others(tmp_path: Path) -> None:
    bad = deployment("bad").replace("selector:", "selectr:")
    write(tmp_path, a__yaml=f"{bad}---\n{deployment('beside')}", b__yaml=deployment())
    write(tmp_path, c__yaml="apiVersion: v1\nkind: [\n")
    loaded = read_all(tmp_path)

    assert refs(loaded) == ["Deployment/shop/beside", "Deployment/shop/web"]
    assert told(loaded) == [("R003", "error", "a.yaml:4"), ("R003", "error", "c.yaml:3")]
    assert loaded.notes[0].what == "Deployment/shop/bad: spec.selector is required"
    assert loaded.notes[0].why == "Add selector"


def test_whoever_does_not_ask_for_the_rest_gets_the_error(tmp_path: Path) -> None:
    write(tmp_path, a__yaml=REFUSED, b__yaml=deployment())

    with pytest.raises(ManifestError, match="Deployment/shop/old: apiVersion is 'extensions/v1beta9'"):
        load(tmp_path)


def test_what_leaves_no_workload_is_refused_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, a__yaml=REFUSED, b__yaml=node())

    with pytest.raises(ManifestError, match="Deployment/shop/old: apiVersion is 'extensions/v1beta9'"):
        read_all(tmp_path)


def test_a_pod_that_admission_refuses_is_left_out_of_the_input_and_of_its_replay(tmp_path: Path) -> None:
    most = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: shop}\n"
    most += "spec: {limits: [{type: Container, max: {cpu: 1m}}]}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n"
    pod += "spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1}}}]}\n"
    write(tmp_path, l__yaml=most, p__yaml=pod, web__yaml=deployment())
    loaded = read_all(tmp_path)

    assert refs(loaded) == refs(load_texts(loaded.texts)) == ["Deployment/shop/web"]
    assert told(loaded) == [("R003", "error", "p.yaml:1")]


def test_a_refused_scenario_is_never_replaced_by_the_default_one(tmp_path: Path) -> None:
    write(tmp_path, web__yaml=deployment(), s__yaml=scenario("intents: [\n"))
    with pytest.raises(ManifestError, match=r"s.yaml:\d+: not valid YAML"):
        read_all(tmp_path)

    write(tmp_path, s__yaml=scenario("intentz: []\n"))
    with pytest.raises(ScenarioError, match="intentz"):
        read_all(tmp_path)


def test_a_file_that_cannot_be_read_hides_no_others(tmp_path: Path) -> None:
    write(tmp_path, web__yaml=deployment())
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere.yaml")

    assert told(read_all(tmp_path)) == [("R003", "error", "gone.yaml:0")]


def test_hostile_content_costs_its_file_and_too_much_of_it_the_whole_input(tmp_path: Path) -> None:
    write(tmp_path, web__yaml=deployment(), deep__yaml="apiVersion: v1\nkind: " + "[" * 200)
    assert told(read_all(tmp_path)) == [("R003", "error", "deep.yaml:2")]

    with pytest.raises(HostileInputError, match="more than 10 keys and values"):
        load(tmp_path, is_tolerant=True, bounds=Bounds(nodes=10))


def test_a_class_that_is_not_in_the_input_leaves_proofs_open() -> None:
    (omission,) = load_text(deployment(pod="priorityClassName: high,")).omissions

    assert omission.what == "PriorityClass high of Deployment/shop/web"
    assert omission.touches == ("*/*/*",)


# -- objects that come twice, or without a name ---------------------------------------------------


def test_of_an_object_that_comes_twice_the_last_counts_and_both_places_are_named() -> None:
    loaded = load_text(deployment(spec="replicas: 3,"), node(), deployment(spec="replicas: 5,"))

    assert [workload.replicas for workload in loaded.setup.workloads] == [5]
    assert loaded.notes == (
        ReadingNote(
            "R002",
            "warning",
            "Deployment/shop/web comes twice",
            "the last counts, as with kubectl apply",
            Source("<stdin>", 13),
            (Source("<stdin>", 1),),
        ),
    )
    assert [one.replicas for one in load_texts(loaded.texts).setup.workloads] == [5]


def test_of_a_namespace_that_comes_twice_labels_alone_make_a_difference() -> None:
    plain, noted, labelled = (
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop{more}}}\n"
        for more in ("", ", annotations: {a: b}", ", labels: {a: b}")
    )

    assert [note.severity for note in load_text(deployment(), node(), plain, noted).notes] == ["note"]
    assert [note.severity for note in load_text(deployment(), node(), plain, labelled).notes] == ["warning"]


def test_objects_of_different_folders_that_differ_are_variants_and_no_warning(tmp_path: Path) -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
    write(tmp_path, web__yaml=deployment())
    for folder, port in (("one", 80), ("two", 81)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, service__yaml=f"{service}spec: {{ports: [{{port: {port}}}]}}\n")

    assert [(note.id, note.severity) for note in read_all(tmp_path).notes if note.id == "R002"] == [("R002", "note")]


def test_objects_that_come_twice_and_say_the_same_are_one_note_for_each_file_that_counts(tmp_path: Path) -> None:
    web, api = deployment(), deployment("api")
    write(tmp_path, a__yaml=f"{web}---\n{api}", all__yaml=f"{api}---\n{web}")
    (note,) = read_all(tmp_path).notes

    assert (note.id, note.severity) == ("R002", "note")
    assert note.what == "Deployment/shop/web comes twice, Deployment/shop/api comes twice"
    assert [str(place).rpartition("/")[2] for place in note.also] == ["a.yaml:1", "a.yaml:8"]


def test_what_no_api_server_serves_is_no_second_object(tmp_path: Path) -> None:
    write(tmp_path, a__yaml=deployment("old"), b__yaml=OUTDATED)
    loaded = read_all(tmp_path)

    assert refs(loaded) == ["Deployment/shop/old"]
    assert told(loaded) == [("R003", "error", "b.yaml:1")]


def test_an_object_of_a_removed_version_is_read_as_of_the_one_that_replaced_it(tmp_path: Path) -> None:
    budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: old, namespace: shop}\n"
    write(
        tmp_path, a__yaml=f"{OUTDATED}---\n{budget}spec: {{minAvailable: 1, selector: {{matchLabels: {{app: old}}}}}}\n"
    )
    loaded = read_all(tmp_path)

    assert refs(loaded) == refs(load_texts(loaded.texts)) == ["Deployment/shop/old"]
    assert len(loaded.setup.budgets) == 1
    assert loaded.notes == ()
    assert {written.version for written in loaded.wiring.written} == {"extensions/v1beta1", "policy/v1beta1"}


def test_objects_of_kinds_that_are_not_modelled_may_come_twice() -> None:
    monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\n"

    assert load_text(deployment(), node(), monitor, monitor).notes == ()


def test_an_object_without_a_name_gets_the_same_one_each_time() -> None:
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: sync-}\n"
    job += "spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}\n"
    loaded = load_text(job, job)

    assert refs(loaded) == refs(load_texts(loaded.texts)) == ["Job/default/sync-00001", "Job/default/sync-00002"]
    assert [(n.id, n.severity, n.what) for n in loaded.notes] == [
        ("R005", "note", "Job/sync-00001"),
        ("R005", "note", "Job/sync-00002"),
    ]


def test_a_list_of_one_kind_says_what_its_objects_are() -> None:
    text = (
        "apiVersion: v1\nkind: NamespaceList\nitems: [{metadata: {name: a}}, {metadata: {name: b}, kind: Namespace}]\n"
    )
    loaded = load_text(text, deployment(), node())

    assert [name for name, _ in loaded.setup.namespaces] == ["a", "b"]
    assert load_texts(loaded.texts).setup.namespaces == loaded.setup.namespaces


@pytest.mark.parametrize(
    "parted",
    ["---   \n", "--- # comment\n", "---\n---\n# c\n---\n", "...\n---\n", "---\r\n", "--- \n", "---\n\ufeff"],
)
def test_documents_are_parted_in_all_the_ways_that_kubectl_takes(parted: str) -> None:
    text = f"\ufeff{deployment('a')}{parted}{deployment('b')}"

    assert refs(load(["-"], stdin=text.encode)) == ["Deployment/shop/a", "Deployment/shop/b"]


# -- notations that kubectl takes -----------------------------------------------------------------


def test_of_a_key_that_comes_twice_the_last_counts_with_a_warning() -> None:
    loaded = load_text(deployment(spec="replicas: 2,\n replicas: 3,"), node())

    assert [workload.replicas for workload in loaded.setup.workloads] == [3]
    assert [(n.id, n.severity, n.what, n.source.line, n.also[0].line) for n in loaded.notes] == [
        ("R002", "warning", "key replicas again in the same mapping", 5, 4)
    ]


def test_a_key_that_comes_twice_in_a_scenario_is_refused() -> None:
    with pytest.raises(ManifestError, match="key intents again"):
        load_text(deployment(), node(), scenario("intents: [{settles: {}}]\nintents: []\n"))


@pytest.mark.parametrize(
    ("written", "replicas"), [("010", 8), ("0x10", 16), ("0b11", 3), ("1_0", 10), ("+3", 3), ("08", 8)]
)
def test_whole_numbers_in_all_notations_of_yaml(written: str, replicas: int) -> None:
    loaded = load_text(deployment(spec=f"replicas: {written},"), node())

    assert loaded.setup.workloads[0].replicas == replicas


def test_keys_that_are_no_text_are_those_that_kubectl_writes() -> None:
    labels = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {y: a, off: b, 0x10: c, 7: d}}\n"

    assert load_text(labels).setup.namespaces == (("a", (("16", "c"), ("7", "d"), ("false", "b"), ("true", "a"))),)


def test_json_may_hold_several_documents_and_characters_in_two_halves() -> None:
    smile = '{"x": "\\ud83d\\ude00"}'
    text = f'{{"apiVersion": "v1", "kind": "Namespace",\n "metadata": {{"name": "%s", "annotations": {smile}}}}}'

    assert [n for n, _ in load(["-"], stdin=f"{text % 'a'}\n\n{text % 'b'}".encode).setup.namespaces] == ["a", "b"]
    with pytest.raises(ManifestError, match="<stdin>:5: Namespace/B"):
        load(["-"], stdin=f"{text % 'a'}\n\n{text % 'B'}".encode)


def test_what_follows_the_end_of_a_document_is_skipped_as_by_kubectl() -> None:
    text = f"{deployment('a')}...\nmore: {{\n---\n{deployment('b')}"

    assert [str(w.source) for w in load(["-"], stdin=text.encode).setup.workloads] == ["<stdin>:1", "<stdin>:10"]


def test_an_escape_that_kubectl_alone_knows_is_read() -> None:
    text = deployment(container='args: ["it\\\'s"],')

    assert refs(load_text(text, node())) == ["Deployment/shop/web"]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("{type: Pods, pods: {metric: {name: x}, target: {type: Value, averageValue: 2}}}", ("AverageValue", 2000)),
        ("{type: Resource, resource: {name: cpu, target: {type: Value, averageUtilization: 7}}}", ("Utilization", 7)),
        ("{type: External, external: {metric: {name: x}, target: {type: AverageValue, value: 3}}}", ("Value", 3000)),
    ],
)
def test_an_autoscaler_goes_by_the_value_that_is_there(metric: str, expected: tuple[str, int]) -> None:
    scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a, namespace: shop}\n"
    target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
    scaler += f"spec: {{{target}, maxReplicas: 3, metrics: [{metric}]}}\n"
    (found,) = load_text(deployment(), node(), scaler).setup.autoscalers

    assert [(one.target_type, one.value) for one in found.metrics] == [expected]


def test_a_running_pod_of_an_input_without_nodes_finds_a_node_again() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nstatus: {phase: Running}\n"
    pod += "spec: {nodeName: minikube, containers: [{name: a, image: b}]}\n"
    loaded = load_text(pod)

    assert [(one.bound_to, one.template.node_name) for one in loaded.setup.workloads] == [(None, None)]
    assert loaded.omissions[0].what == "place of Pod/default/p"
    assert refs(load_texts(loaded.texts)) == ["Pod/default/p"]
    with pytest.raises(ManifestError, match="runs on 'minikube', which is not in the input"):
        load_text(pod, node())


def test_a_pod_of_a_node_that_is_not_there_is_left_out_and_not_refused(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: tool}\nspec: {nodeName: gone, containers: [{name: a}]}\n"
    pod += "status: {phase: Running}\n"
    write(tmp_path, node__yaml=node(), pod__yaml=pod, web__yaml=deployment())
    loaded = read_all(tmp_path)

    assert refs(loaded) == refs(load_texts(loaded.texts)) == ["Deployment/shop/web"]
    assert told(loaded) == []
    assert [one.what for one in loaded.omissions] == ["Pod/default/tool"]


def test_code_of_others_is_not_looked_at(tmp_path: Path) -> None:
    write(tmp_path, node__yaml=node(), web__yaml=deployment())
    for name in ("vendor", "node_modules"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.yaml").write_text(deployment(name.replace("_", "-")))

    assert refs(read_all(tmp_path)) == ["Deployment/shop/vendor", "Deployment/shop/web"]
    (tmp_path / "vendor" / "modules.txt").write_text("# example.org/a v1\n")
    assert refs(read_all(tmp_path)) == ["Deployment/shop/web"]


def test_what_is_no_object_in_a_list_hides_neither_the_others_nor_stands_in_the_replay(tmp_path: Path) -> None:
    items = "[{kind: 7}, 3, {apiVersion: v1, kind: Namespace, metadata: {name: a}}]"
    write(tmp_path, l__yaml=f"apiVersion: v1\nkind: List\nitems: {items}\n", web__yaml=deployment())
    loaded = read_all(tmp_path)

    assert told(loaded) == [("R003", "error", "l.yaml:3")] * 2
    assert load_texts(loaded.texts).setup.namespaces == loaded.setup.namespaces == (("a", ()),)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "kind: Deploymnt",
            r"web.yaml:2: .* kind is 'Deploymnt', which apps/v1 does not have. Did you mean D",
        ),
        ("kind: deployment", r"kind is 'deployment', which apps/v1 does not have. Did you mean Deployment\?"),
    ],
)
def test_a_misspelt_kind_of_kubernetes_itself_is_refused(tmp_path: Path, written: str, problem: str) -> None:
    write(tmp_path, web__yaml=deployment().replace("kind: Deployment", written))

    with pytest.raises(ManifestError, match=problem):
        read_all(tmp_path)


def test_a_kind_in_a_group_of_kubernetes_that_does_not_have_it_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"apiVersion is 'v1'\. Write apiVersion: apps/v1"):
        load_text(deployment().replace("apps/v1", "v1"))
    assert load_text(deployment().replace("apps/v1", "example.com/v1")).setup.workloads == ()


def test_fields_that_have_moved_since_a_removed_version_are_found(tmp_path: Path) -> None:
    scaler = "apiVersion: autoscaling/v2beta1\nkind: HorizontalPodAutoscaler\nmetadata: {name: a, namespace: shop}\n"
    scaler += "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3, metrics: [\n"
    scaler += " {type: Resource, resource: {name: cpu, targetAverageUtilization: 70}},\n"
    scaler += " {type: Pods, pods: {metricName: x, targetAverageValue: 2}}]}\n"
    ingress = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: i, namespace: shop}\n"
    ingress += "spec: {backend: {serviceName: web, servicePort: 80}}\n"
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
    service += "spec: {selector: {app: web}, ports: [{port: 80}]}\n"
    write(tmp_path, all__yaml="---\n".join((deployment(), scaler, ingress, service)))
    loaded = read_all(tmp_path)

    assert loaded.notes == ()
    assert [(m.type, m.name, m.target_type, m.value) for m in loaded.setup.autoscalers[0].metrics] == [
        ("Resource", "cpu", "Utilization", 70),
        ("Pods", "x", "AverageValue", 2000),
    ]
    assert load_texts(loaded.texts).setup == loaded.setup
