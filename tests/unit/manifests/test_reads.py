"""What is kept of the input is what was read of it, each thing in its line, and reading it again gives the same."""

from pathlib import Path

import pytest

from kubeproof.manifests.load import load, load_texts

ROOT = Path(__file__).parents[3]
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*/input.yaml"))
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/scenario.yaml"))
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}}
"""


def load_text(tmp_path, text):
    (tmp_path / "in.yaml").write_text(text, encoding="utf-8")
    loaded = load(tmp_path / "in.yaml")
    return loaded, loaded.texts[0][1]


@pytest.mark.parametrize("path", [*EXAMPLES, *GOLDEN], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_kept_is_read_as_the_whole_was(path):
    whole = load(path)
    again = load_texts(whole.texts)

    assert (again.setup, again.scenario, again.omissions, again.ignores) == (
        whole.setup, whole.scenario, whole.omissions, whole.ignores,
    )  # fmt: skip
    places = [[one.source for one in loaded.setup.workloads + loaded.setup.nodes] for loaded in (whole, again)]
    assert places[0] == places[1]
    assert again.texts == whole.texts


def test_keys_stay_in_their_lines_however_they_were_written(tmp_path):
    text = """\
# a comment
status: {replicas: 3}
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    example.com/x: y

  labels: &labels {app: web,
     tier: "1"}
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: *labels
    spec:
      containers:
        - env:
            - {name: P, value: x}
          name: web
          resources:
              requests:
                  cpu: '1'
        - <<: {name: second}
          image: >-
            web:1
--- {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"cpu": 2}}}
"""
    whole, kept = load_text(tmp_path, text)
    again = load_texts(whole.texts)

    assert (again.setup, again.omissions) == (whole.setup, whole.omissions)
    assert [one.source.line for one in (*again.setup.workloads, *again.setup.nodes)] == [2, 29]
    for number, line in enumerate(text.splitlines()):
        key = line.strip().removeprefix("- ").partition(":")[0]
        if key in ("apiVersion", "kind", "metadata", "name", "spec", "selector", "containers", "resources", "requests"):
            assert key in kept.splitlines()[number]


def test_a_field_that_is_not_modelled_is_known_to_be_there_but_not_what_it_holds(tmp_path):
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  runtimeClassName: confidential\n"
        "  containers: [{name: c}]\n  volumes: [{name: v, csi: {x: confidential}}]\n  unheard: {confidential: x}\n"
    )
    whole, kept = load_text(tmp_path, f"{NODE}---\n{pod}")

    assert "confidential" not in kept
    told = [(one.what, one.source.line, one.why) for one in whole.omissions]
    assert [(one.what, one.source.line, one.why) for one in load_texts(whole.texts).omissions] == told
    assert len(told) == 3


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ('["sh", "-c", "sleep 7"]', '[sleep, "7"]'),
        ('["/bin/sleep", "7s"]', '[sleep, "7"]'),
        ('["sh", "-c", "curl confidential; sleep 7"]', "[]"),
    ],
)
def test_of_a_stop_hook_only_the_sleep_is_kept(command, kept, tmp_path):
    hook = f"lifecycle: {{preStop: {{exec: {{command: {command}}}}}}}"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, {hook}}}]}}\n"
    whole, text = load_text(tmp_path, f"{NODE}---\n{pod}")

    assert f"command: {kept}" in text
    assert load_texts(whole.texts).setup == whole.setup


def test_values_of_flags_that_are_not_modelled_are_nowhere(tmp_path):
    words = '["./cluster-autoscaler", "--nodes=1:3:web", "--unheard", "confidential", "--token=confidential"]'
    pod = f"spec: {{containers: [{{name: c, command: {words}}}]}}"
    text = f"{NODE}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n{pod}\n"
    whole, kept = load_text(tmp_path, text.replace("{name: a}", "{name: a, labels: {pool: web}}"))

    assert "confidential" not in kept + str(whole.omissions)
    assert "--nodes=1:3:web" in kept
    again = load_texts(whole.texts)
    assert (again.setup, again.omissions) == (whole.setup, whole.omissions)


def test_of_an_application_only_what_is_about_replicas_is_kept(tmp_path):
    entry = "jqPathExpressions: ['.x | select(confidential)', .spec.replicas], managedFieldsManagers: [confidential]"
    spec = f"{{source: {{repoURL: confidential}}, destination: {{}}, ignoreDifferences: [{{{entry}}}]}}"
    application = f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec: {spec}\n"
    whole, kept = load_text(tmp_path, f"{NODE}---\n{application}")

    assert "confidential" not in kept
    assert ".spec.replicas" in kept
    assert load_texts(whole.texts).setup == whole.setup
