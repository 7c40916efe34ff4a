"""Charts and kustomizations: rendered by programs on the PATH, which may be missing, fail, hang or flood."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import EnvironmentProblem, HostileInputError, ManifestError
from kubeproof.manifests.folders import files
from kubeproof.manifests.folders.bare_charts import copy_without_dependencies
from kubeproof.manifests.folders.rendering import render_recipe
from kubeproof.manifests.load import load
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.report.formats import sarif
from kubeproof.report.frame import Frame
from kubeproof.verify.run import verify
from tests.unit.report.formats import read_sarif
from tests.unit.verify.inputs import node, scenario, web


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that alone is on the PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory


def install(programs: Path, name: str, script: str) -> None:
    """A program of this name that runs a Python script."""
    path = programs / name
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -c {shlex.quote(script)} "$@"\n')
    path.chmod(0o755)


def says(text: str) -> str:
    """A script that writes its arguments to a file beside it, and the text to stdout."""
    return (
        f"import sys, os; open(os.environ['SAID'], 'a').write(repr(sys.argv[1:]) + '\\n'); sys.stdout.write({text!r})"
    )


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "said"
    monkeypatch.setenv("SAID", str(path))
    return path


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart with what would be refused if it were read."""
    directory = tmp_path / "My Chart!"
    (directory / "templates").mkdir(parents=True)
    (directory / "Chart.yaml").write_text("name: web\n")
    (directory / "values.yaml").write_text("replicas: 2\n")
    (directory / "templates" / "web.yaml").write_text("{{ not yaml }}")
    return directory


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    directory = tmp_path / "overlay"
    directory.mkdir()
    (directory / "kustomization.yaml").write_text("resources: [../base]\n")
    (directory / "patch.yaml").write_text("not: an object\n")
    return directory


def test_a_chart_is_rendered_by_helm_without_a_shell(programs, said, chart):
    install(programs, "helm", says(web(2)))

    loaded = load([str(chart)])

    assert [workload.ref for workload in loaded.setup.workloads] == ["Deployment/shop/web"]
    asked = ["--kube-version", "1.37.0", "--api-versions", "apiregistration.k8s.io/v1"]
    assert said.read_text() == f"{['template', 'my-chart', str(chart), '--skip-tests', *asked]!r}\n"
    assert str(loaded.setup.workloads[0].source) == f"<rendered from {chart}/Chart.yaml>:1"


@pytest.mark.parametrize(
    ("hook", "kept"),
    [
        ("pre-delete", 1),
        ("post-upgrade, pre-rollback", 1),
        ("test", 1),
        ("pre-install", 2),
        ("post-upgrade,post-install", 2),
    ],
)
def test_hooks_that_do_not_run_when_a_chart_is_installed_are_left_out(programs, said, chart, hook, kept):
    hooked = web(1).replace("name: web,", f'name: cleaner, annotations: {{helm.sh/hook: "{hook}"}},', 1)
    install(programs, "helm", says(f"{web(2)}---\n{hooked}"))

    loaded = load([str(chart)])

    assert len(loaded.setup.workloads) == kept
    assert [note.what for note in loaded.notes if "hook" in note.why] == [f"<rendered from {chart}/Chart.yaml>"] * (
        2 - kept
    )


def test_a_hook_in_a_file_is_an_object_like_others(tmp_path):
    hooked = web(1).replace("name: web,", "name: cleaner, annotations: {helm.sh/hook: pre-delete},", 1)
    (tmp_path / "in.yaml").write_text(hooked)

    assert len(load([str(tmp_path)]).setup.workloads) == 1


def test_values_are_handed_over_as_absolute_paths(programs, said, chart, monkeypatch):
    install(programs, "helm", says(web(2)))
    monkeypatch.chdir(chart)

    render_recipe(str(chart / "Chart.yaml"), Bounds(), values=("values.yaml", "-x.yaml"))

    assert f"'--values', '{chart}/values.yaml', '--values', '{chart}/-x.yaml'" in said.read_text()


@pytest.mark.parametrize(("program", "verb"), [("kustomize", "build"), ("kubectl", "kustomize")])
def test_a_kustomization_is_rendered_by_kustomize_or_kubectl(programs, said, overlay, program, verb):
    install(programs, program, says(web(2)))

    assert len(load([str(overlay)]).setup.workloads) == 1
    assert said.read_text() == f"{[verb, str(overlay)]!r}\n"


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_the_real_kubectl_renders_an_overlay(tmp_path):
    for name, text in {"base": "resources: [web.yaml]", "prod": "resources: [../base]\nnamePrefix: prod-"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "kustomization.yaml").write_text(text)
    (tmp_path / "base" / "web.yaml").write_text(web(2))
    kubectl = str(shutil.which("kubectl"))

    content = render_recipe(str(tmp_path / "prod" / "kustomization.yaml"), Bounds(), find={"kubectl": kubectl}.get)

    assert b"name: prod-web" in content


def test_kustomize_comes_before_kubectl(programs, said, overlay):
    install(programs, "kustomize", says(web(2)))
    install(programs, "kubectl", says(""))

    assert len(load([str(overlay)]).setup.workloads) == 1


def test_recipes_are_found_below_a_directory_and_can_be_named_themselves(programs, said, overlay):
    install(programs, "kustomize", says(web(2)))
    (overlay.parent / "nodes.yaml").write_text(node("a"))

    assert len(load([str(overlay.parent)]).setup.nodes) == 1
    assert len(load([str(overlay / "kustomization.yaml")]).setup.workloads) == 1


@pytest.mark.parametrize(
    ("recipe", "program"), [("Chart.yaml", "helm"), ("kustomization.yaml", "kustomize or kubectl")]
)
def test_a_missing_program_is_a_problem_of_the_environment(programs, tmp_path, capsys, recipe, program):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / recipe).write_text("")

    assert main(["verify", str(tmp_path / "in")]) == 6

    said = capsys.readouterr().err
    assert f"{program} is needed to render it and is not on the PATH" in said
    assert "| kubeproof verify -" in said


def test_a_program_that_fails_is_told_with_what_it_says(programs, chart, capsys):
    install(programs, "helm", "import sys; sys.stderr.write('bad\\x1b[31m value\\n'); sys.exit(3)")

    assert main(["verify", str(chart)]) == 4

    said = capsys.readouterr().err
    assert "helm template failed with exit code 3: bad" in said
    assert "\x1b" not in said


def test_what_kustomize_says_is_told_without_warnings_and_heads_of_a_log(programs, overlay):
    log = (
        "# Warning: 'bases' is deprecated. Run 'kustomize edit fix'.\n"
        "W0102 03:04:05.678901      12 warn.go:7] old\n"
        'E0102 03:04:05.678901      12 run.go:72] "command failed" err="no file of that name"\n'
    )
    install(programs, "kubectl", f"import sys; sys.stderr.write({log!r}); sys.exit(1)")

    with pytest.raises(ManifestError) as problem:
        render_recipe(str(overlay / "kustomization.yaml"), Bounds())

    assert problem.value.problem == 'kubectl kustomize failed with exit code 1: "no file of that name"'


def test_parts_that_are_elsewhere_are_to_be_fetched_elsewhere(programs, overlay):
    log = "accumulating https://example.org/a.yaml: dial tcp: lookup " + "x" * 1000 + ": no such host"
    install(programs, "kubectl", f"import sys; sys.stderr.write({log!r}); sys.exit(1)")

    with pytest.raises(ManifestError) as problem:
        render_recipe(str(overlay / "kustomization.yaml"), Bounds())

    assert "accumulating https://example.org/a.yaml" in problem.value.problem
    assert problem.value.problem.endswith("no such host")
    assert "render it where they can be fetched" in problem.value.remedy


def test_a_program_that_hangs_is_ended_with_all_it_started(programs, chart, tmp_path):
    alive = tmp_path / "alive"
    child = f"subprocess.Popen([{sys.executable!r}, '-S', '-c', 'import time; time.sleep(600)'])"
    script = f"import subprocess, sys, time; open({str(alive)!r}, 'w').write(str({child}.pid)); time.sleep(600)"
    install(programs, "helm", script)

    with pytest.raises(EnvironmentProblem, match=r"helm template did not end within 3 s") as problem:
        render_recipe(str(chart / "Chart.yaml"), Bounds(), timeout_s=3)

    assert problem.value.exit_code == 6
    assert is_gone(int(alive.read_text()))


def is_gone(process: int) -> bool:
    """True once the process has ended; a zombie has."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(process, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_a_program_that_floods_is_ended(programs, chart):
    install(programs, "helm", "import sys\nwhile True: sys.stdout.write('# x\\n' * 10000)")

    with pytest.raises(HostileInputError, match=r"helm template writes more than 100,000 bytes"):
        render_recipe(str(chart / "Chart.yaml"), Bounds(file_bytes=100_000))


def test_a_flood_of_complaints_is_not_kept(programs, chart):
    install(programs, "helm", "import sys\nfor _ in range(100): sys.stderr.write('no ' * 10000)\nsys.exit(1)")

    with pytest.raises(ManifestError) as problem:
        render_recipe(str(chart / "Chart.yaml"), Bounds())
    assert len(str(problem.value)) < 1000


def test_a_program_that_cannot_be_started_is_a_problem_of_the_environment(programs, chart):
    (programs / "helm").write_text("#!/no/such/interpreter\n")
    (programs / "helm").chmod(0o755)

    with pytest.raises(EnvironmentProblem, match="cannot be started"):
        load([str(chart)])


def test_problems_of_rendered_manifests_name_the_recipe(programs, chart, said):
    install(programs, "helm", says("kind: Deployment\n"))

    with pytest.raises(ManifestError, match=r"<rendered from .*My Chart!/Chart.yaml>:1: "):
        load([str(chart)])


def test_a_violation_in_a_chart_is_shown_at_its_recipe(programs, chart, said, tmp_path):
    install(programs, "helm", says("---\n".join((web(9), node("a"), scenario("{schedulable: {}}")))))
    result = verify(load([str(chart)]))
    run = read_sarif(sarif.render(result, Frame(str(tmp_path))))

    found = run["results"][0]
    place = found["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("My%20Chart%21/Chart.yaml", 1)


def test_a_chart_whose_dependencies_were_not_fetched_is_rendered_without_them(programs, chart):
    (chart / "Chart.yaml").write_text("name: web\ndependencies:\n- name: db\n  version: 1\n\n# end\nversion: 2\n")
    script = (
        "import sys, os; text = open(os.path.join(sys.argv[3], 'Chart.yaml')).read(); "
        "'dependencies' in text and sys.exit('missing in charts/ directory: db'); "
        f"assert 'version: 2' in text; sys.stdout.write({web(2)!r})"
    )
    install(programs, "helm", script)
    loaded = load([str(chart)], is_tolerant=True)

    assert [workload.ref for workload in loaded.setup.workloads] == ["Deployment/shop/web"]
    (note,) = loaded.notes
    assert (note.id, note.severity) == ("R003", "warning")
    assert "missing in charts/ directory: db" in note.what
    assert note.why.startswith(f"Run: helm dependency build {chart}. Until then the chart is verified without dep")


def test_dependencies_that_lie_beside_a_chart_are_found_there(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "Chart.yaml").write_text("name: web\ndependencies:\n- name: x\n  repository: 'file://../lib'\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "Chart.yaml").write_text("name: lib\n")
    (tmp_path / "copies").mkdir()
    copy = copy_without_dependencies(str(tmp_path / "web"), str(tmp_path / "copies"), Bounds())

    assert copy is not None
    assert Path(copy, "Chart.yaml").read_text() == "name: web\n"
    assert Path(copy, "charts", "lib", "Chart.yaml").read_text() == "name: lib\n"
    assert copy_without_dependencies(str(tmp_path / "lib"), str(tmp_path / "copies"), Bounds()) is None


@pytest.mark.parametrize(("kind", "is_found"), [("type: library\n", True), ("", False)])
def test_a_library_of_the_same_repository_is_found_by_its_name(tmp_path: Path, kind: str, is_found: bool) -> None:
    """One that is no library gives objects by itself: whether it does is what its dependent says, and that is lost."""
    asked = "dependencies:\n- name: common\n  repository: oci://elsewhere\n"
    for name, text in (("web", "name: web\n" + asked), ("common", "name: common\n" + kind)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Chart.yaml").write_text(text)
    (tmp_path / "copies").mkdir()
    copy = copy_without_dependencies(str(tmp_path / "web"), str(tmp_path / "copies"), Bounds())

    assert copy is not None
    assert Path(copy, "charts", "common", "Chart.yaml").exists() == is_found


def test_requirements_of_older_charts_that_lie_beside_them_are_found(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "Chart.yaml").write_text("name: web")
    (tmp_path / "web" / "requirements.yaml").write_text("dependencies:\n- name: x\n  repository: file://../lib\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "Chart.yaml").write_text("name: lib\n")
    (tmp_path / "copies").mkdir()
    copy = copy_without_dependencies(str(tmp_path / "web"), str(tmp_path / "copies"), Bounds())

    assert copy is not None
    assert Path(copy, "charts", "lib", "Chart.yaml").exists()
    assert not Path(copy, "requirements.yaml").exists()


def test_recipes_that_take_too_long_together_are_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_RENDERING_S", -1.0)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Chart.yaml").write_text("name: x\n")
    (tmp_path / "web.yaml").write_text(web(2))
    loaded = load([str(tmp_path)], render=lambda recipe, bounds: b"", is_tolerant=True)

    assert [(note.id, "not rendered, for others took" in note.what) for note in loaded.notes] == [("R003", True)] * 2
