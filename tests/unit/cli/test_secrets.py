"""What manifests hold beside what the model reads, such as passwords, is in no output of any command."""

import json

import pytest

from kubeproof.cli.main import main

MARK = "hunter2"
SECRET = """\
# the password is hunter2
apiVersion: v1
kind: Secret
metadata: {name: login, annotations: {x: hunter2}}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {file: "token: hunter2"}
"""
NODES = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a, labels: {kubernetes.io/hostname: a}, annotations: {example.com/join: hunter2}}
  spec: {providerID: hunter2}
  status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}, addresses: [{type: InternalIP, address: hunter2}]}
- apiVersion: v1
  kind: Secret
  metadata: {name: in-a-list}
  data: {password: hunter2}
"""
POD = """\
containers:
      - name: web  # hunter2
        image: web:1
        env:
        - {name: PASSWORD, value: hunter2}
        args: ["--password", hunter2]
        command:
        - serve
        - --token=hunter2
        volumeMounts: [{name: data, mountPath: /hunter2}]
        livenessProbe: {httpGet: {path: /?key=hunter2, port: 80}}
        readinessProbe: {exec: {command: [check, hunter2]}}
        lifecycle:
          preStop: {exec: {command: [sh, -c, "curl -H hunter2; sleep 5"]}}
          postStart: {httpGet: {path: /, port: 80, httpHeaders: [{name: Authorization, value: hunter2}]}}
        resources: {requests: {cpu: "1"}}
      volumes:
      - name: data
        csi: {driver: x, volumeAttributes: {password: hunter2}}
      hostAliases: [{ip: 10.0.0.1, hostnames: [hunter2]}]
"""
WEB = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {{kubectl.kubernetes.io/last-applied-configuration: hunter2}}
  name: web
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata:
      labels: {{app: web}}
      annotations: {{vault.example.com/template: hunter2}}
    spec:
      {POD}\
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: cluster-autoscaler}}
spec:
  replicas: 0
  selector: {{matchLabels: {{app: autoscaler}}}}
  template:
    metadata: {{labels: {{app: autoscaler}}}}
    spec:
      containers:
      - name: autoscaler
        command: [./cluster-autoscaler, --cloud-config, hunter2, --scan-interval=10s, --unheard-of=hunter2]
"""
SCENARIO = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: applied}
spec:
  events:
  - apply:
      manifest:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: late}
        spec:
          selector: {matchLabels: {app: late}}
          template:
            metadata: {labels: {app: late}}
            spec:
              containers: [{name: late, env: [{name: P, value: hunter2}]}]
  - apply: {file: applied.yaml}
  intents:
  - noPendingForever: {target: Deployment/web}
"""
APPLIED = WEB.split("---")[0].replace("name: web\n", "name: more\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    texts = {"secret": SECRET, "nodes": NODES, "web": WEB, "scenario": SCENARIO, "applied": APPLIED}
    for name, text in texts.items():
        (tmp_path / "in" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "out").mkdir()
    return tmp_path


def told(folder, capsys):
    """All that was written, by the name of the file."""
    printed = capsys.readouterr()
    files = {file.name: file.read_bytes() for file in folder.rglob("out/**/*") if file.is_file()}
    return {"stdout": printed.out.encode(), "stderr": printed.err.encode(), **files}


REACH = ("--can-reach", "default/app=web -> default/app=web:80", "-o", "json=out/report.json")
FORMATS = ("text", "json", "html", "junit", "sarif", "github", "markdown", "ndjson", "mermaid", "itf")


def test_no_report_of_verify_or_replay_tells_what_the_model_does_not_read(folder, capsys):
    outputs = [word for name in FORMATS for word in ("-o", f"{name}=out/report.{name}")]
    more = ["--checkpoint", "out/checkpoint", "--write-baseline", "out/baseline", "-v"]
    assert main(["verify", "in", *outputs, *more]) == 1
    replays = [word for name in ("json", "html", "mermaid", "itf", "text") for word in ("-o", f"{name}=out/r.{name}")]
    assert main(["replay", "out/report.json", *replays, "--as-audit", "out/audit.log", "-v"]) == 1
    again = [word for name in FORMATS for word in ("-o", f"{name}=out/again.{name}")]
    assert main(["report", "out/report.json", *again]) == 0

    written = told(folder, capsys)
    assert len(written) > 20
    assert [name for name, text in written.items() if MARK.encode() in text] == []


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "in", "-o", "json=out/report.json", "-o", "html=out/report.html"],
        ["quantify", "cluster", "in/web.yaml", "in/nodes.yaml", "-o", "json=out/report.json"],
        ["init", "in/web.yaml", "in/nodes.yaml"],
        ["network", "verify", "--from-manifests", "in/web.yaml", "in/secret.yaml", *REACH],
        ["diff", "in", "in", "-o", "json=out/report.json"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_other_command_does(words, folder, capsys):
    assert main(words) in (0, 1, 3), capsys.readouterr().err

    assert [name for name, text in told(folder, capsys).items() if MARK.encode() in text] == []


def test_a_saved_result_holds_no_secret_and_no_config_map_and_places_stay(folder, capsys):
    assert main(["verify", "in", "-o", "json=out/report.json"]) == 1
    saved = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    texts = {file["name"]: file["text"] for file in saved["input"]["files"]}

    assert texts["in/secret.yaml"] == ""
    assert "Secret" not in "".join(texts.values())
    assert "ConfigMap" not in "".join(texts.values())
    assert any(told.startswith("kind Secret login") for told in saved["not_modelled"])
    lines = texts["in/web.yaml"].splitlines()
    original = WEB.splitlines()
    assert lines[4] == original[4] == "  name: web"
    assert lines[original.index("kind: Deployment", 5)] == "kind: Deployment"
    assert "--scan-interval=10s" in texts["in/web.yaml"]  # what replays need of a command line is kept
