"""Files outside the named paths are read only if the user says so."""

import os

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import ManifestError
from kubeproof.manifests.folders import files
from kubeproof.manifests.folders.fence import Fence, fence_of
from kubeproof.manifests.folders.files import read_file, read_inputs
from kubeproof.manifests.load import load, load_files, load_texts
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.network.kubernetes.reader import load_kube_network

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "2", memory: 4Gi, pods: "110"}}}}
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web}]}
"""
SCENARIO = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: s}}
spec:
  events:
  - apply:
      file: {file}
"""


@pytest.fixture
def tree(tmp_path):
    """inside/, with a node and a Deployment, beside outside/."""
    for name in ("inside/below", "outside/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "inside" / "node.yaml").write_text(NODE.format(name="here"))
    (tmp_path / "inside" / "below" / "web.yaml").write_text(WEB)
    (tmp_path / "outside" / "node.yaml").write_text(NODE.format(name="there"))
    (tmp_path / "outside" / "web.yaml").write_text(WEB.replace("name: web}\nspec", "name: other}\nspec"))
    return tmp_path


def nodes(*paths, **options):
    loaded = load([str(path) for path in paths], **options)
    left = [str(one.source) for one in loaded.omissions if one.what == "a link"]
    return sorted(node.name for node in loaded.setup.nodes), left


@pytest.mark.parametrize("target", ["outside", "outside/node.yaml", "outside/deep/../node.yaml"])
@pytest.mark.parametrize("is_relative", [True, False])
def test_a_link_out_of_the_input_is_told_and_not_followed(target, is_relative, tree):
    link = tree / "inside" / ("linked.yaml" if target.endswith(".yaml") else "linked")
    link.symlink_to(f"../{target}" if is_relative else tree / target)

    assert nodes(tree / "inside") == (["here"], [f"{link}:1"])
    assert nodes(tree / "inside", allow_outside=True) == (["here", "there"], [])


def test_a_link_to_a_link_counts_where_it_ends(tree):
    (tree / "inside" / "first.yaml").symlink_to("second")
    (tree / "inside" / "second").symlink_to(tree / "outside" / "node.yaml")

    assert nodes(tree / "inside") == (["here"], [f"{tree}/inside/first.yaml:1"])


def test_a_link_within_the_input_is_followed_and_circles_end(tree):
    (tree / "inside" / "again").symlink_to("below")
    (tree / "inside" / "below" / "up").symlink_to("..")

    assert nodes(tree / "inside") == (["here"], [])


def test_what_is_named_itself_may_be_a_link(tree):
    (tree / "named").symlink_to("outside")
    (tree / "node.yaml").symlink_to("outside/node.yaml")

    assert nodes(tree / "named")[0] == nodes(tree / "node.yaml")[0] == ["there"]


def test_naming_the_target_allows_a_link_to_it(tree):
    (tree / "inside" / "linked.yaml").symlink_to(tree / "outside" / "node.yaml")

    assert nodes(tree / "inside", tree / "outside") == (["here", "there"], [])


def test_a_recipe_outside_is_not_rendered(tree):
    (tree / "outside" / "Chart.yaml").write_text("name: x")
    (tree / "inside" / "below" / "Chart.yaml").symlink_to(tree / "outside" / "Chart.yaml")
    asked = []

    nodes(tree / "inside", render=lambda recipe, _: asked.append(recipe) or b"")
    assert asked == []


def test_a_link_put_in_the_place_of_a_file_meanwhile_is_not_opened(tree, monkeypatch):
    file, inside = tree / "inside" / "node.yaml", fence_of([str(tree / "inside")])
    opened = os.open

    def swap(path, flags):
        file.unlink()
        file.symlink_to(tree / "outside" / "node.yaml")
        return opened(path, flags)

    monkeypatch.setattr(files.os, "open", swap)
    with pytest.raises(ManifestError, match="cannot be read"):
        read_file(str(file), Bounds(), inside)


def test_other_commands_do_not_follow_either(tree):
    (tree / "inside" / "linked.yaml").symlink_to(tree / "outside" / "web.yaml")
    network = load_kube_network([str(tree / "inside")])

    assert [one.ref for one in network.pods] == ["Deployment/default/web"]
    assert any("leads out of the input" in note for note in network.notes)
    with pytest.raises(ManifestError, match="leads out of the input"):
        load_files([str(tree / "inside")])
    told = [file.shown for file in read_inputs([str(tree / "inside")], stdin=None, bounds=Bounds()) if file.leads_out]
    assert told == [str(tree / "inside" / "linked.yaml")]


def applied(tree, file, *more, name="scenario.yaml", **options):
    (tree / "inside" / name).write_text(SCENARIO.format(file=file))
    return load([str(tree / "inside" / "node.yaml"), str(tree / "inside" / name), *more], **options)


@pytest.mark.parametrize("file", ["below/web.yaml", "./below/../below/web.yaml", "{tree}/inside/below/web.yaml"])
def test_a_scenario_names_files_beside_and_below_it(file, tree):
    loaded = applied(tree, file.format(tree=tree))

    assert load_texts(loaded.texts).scenario == loaded.scenario  # a saved result needs no file


@pytest.mark.parametrize("file", ["../outside/web.yaml", "{tree}/outside/web.yaml", "link.yaml", "/dev/null", "../.."])
def test_a_scenario_names_no_file_outside(file, tree):
    (tree / "inside" / "link.yaml").symlink_to(tree / "outside" / "web.yaml")
    with pytest.raises(
        ManifestError, match=r"scenario.yaml:7: .*spec.events\[0\].apply.file .* out of the input"
    ) as told:
        applied(tree, file.format(tree=tree))

    assert (told.value.exit_code, "--allow-outside" in str(told.value)) == (4, True)


def test_the_user_may_allow_files_outside(tree):
    assert applied(tree, "../outside/web.yaml", allow_outside=True).scenario.events
    assert applied(tree, "../outside/web.yaml", str(tree / "outside" / "web.yaml")).scenario.events


def test_recorded_arrivals_lie_inside_as_well(tree, capsys):
    (tree / "outside" / "load.csv").write_text("0,1\n1,2\n")
    head = SCENARIO.partition("  events")[0].format()
    arrivals = "  workload: {services: [{target: Deployment/web, arrivals: {csv: {file: ../outside/load.csv}}}]}\n"
    (tree / "inside" / "scenario.yaml").write_text(head + arrivals)
    assert main(["simulate", str(tree / "inside")]) == 4
    assert "leads out of the input" in capsys.readouterr().err


def test_the_command_line_says_how_to_allow_it(tree, capsys):
    (tree / "inside" / "scenario.yaml").write_text(SCENARIO.format(file="../outside/web.yaml"))

    assert main(["verify", str(tree / "inside")]) == 4
    assert "Name its directory as an input, too, or add --allow-outside" in capsys.readouterr().err
    assert main(["verify", str(tree / "inside"), "--allow-outside"]) in (0, 1)


def test_settings_name_a_baseline_with_them_or_below(tree, capsys, monkeypatch):
    monkeypatch.chdir(tree / "inside")
    (tree / "inside" / ".kubeproof.yaml").write_text("verify:\n  baseline: ../outside/baseline.json\n")

    assert main(["verify", "node.yaml"]) == 2
    assert ".kubeproof.yaml:2: baseline lies outside the directory of the settings" in capsys.readouterr().err


def test_the_whole_file_system_is_one_fence_and_nothing_another(tmp_path):
    assert Fence().admits("/")
    assert Fence(("/",)).admits(str(tmp_path))
    assert not Fence(()).admits(str(tmp_path))
    assert not Fence((str(tmp_path / "a"),)).admits(str(tmp_path / "ab"))
