"""Sweeps from the command line: limits, formats, refusals, the ESC."""

import json
from pathlib import Path

import pytest

from kubeproof.cases.esc import esc_from, find_minima, read_shipped_esc
from kubeproof.cases.library import load_case, text_of
from kubeproof.cli.main import main
from kubeproof.cli.running.progress import describe_sweep
from kubeproof.verify.resize import Size
from kubeproof.verify.scaling.result import SweepProgress


@pytest.fixture
def c7(tmp_path: Path) -> str:
    path = tmp_path / "c7.yaml"
    path.write_text(text_of("c7"), encoding="utf-8")
    return str(path)


def test_a_sweep_stops_at_the_smallest_violation_and_its_trace_replays(c7, tmp_path, capsys):
    report = str(tmp_path / "sweep.json")

    assert main(["verify", c7, "--scale", "2,2", "--workers", "1", "-o", f"json={report}"]) == 1

    document = json.loads(Path(report).read_text(encoding="utf-8"))
    assert document["results"][0]["size"] == {"node-1": 1, "node-2": 0, "Deployment/shop/web": 1}
    assert [size["verdict"] for size in document["sweep"]["sizes"][:3]] == ["TRIVIAL", "VIOLATED", "NOT-TRIED"]
    capsys.readouterr()
    assert main(["replay", report]) == 1
    assert "VIOLATED: every step was possible" in capsys.readouterr().out


def test_the_actual_size_is_proved_without_a_limit(tmp_path, capsys):
    path = tmp_path / "c7.yaml"
    path.write_text(text_of("c7", "safe"), encoding="utf-8")

    assert main(["verify", str(path), "-q"]) == 0
    assert capsys.readouterr().out.endswith("HOLDS: 2 properties checked (2 HOLDS)\n")


def test_a_sweep_without_a_violation_holds_up_to_its_bound_unless_it_is_proved_for_any_size(tmp_path, capsys):
    bounded, unbounded = tmp_path / "c1.yaml", tmp_path / "c7.yaml"
    bounded.write_text(text_of("c1", "safe"), encoding="utf-8")
    unbounded.write_text(text_of("c7", "safe"), encoding="utf-8")

    assert main(["verify", str(unbounded), "--scale", "esc", "--fast-find", "--workers", "1", "-q"]) == 0
    assert capsys.readouterr().out.endswith("SAMPLED-OK: 2 properties checked (2 SAMPLED-OK)\n")
    assert main(["verify", str(unbounded), "--scale", "2,2", "--workers", "1", "-q"]) == 0
    assert capsys.readouterr().out.endswith("HOLDS: 2 properties checked (2 HOLDS)\n")
    assert main(["verify", str(bounded), "--scale", "2,2", "--workers", "1", "-q"]) == 0
    assert capsys.readouterr().out.endswith("HOLDS-BOUNDED: 1 property checked (1 HOLDS-BOUNDED)\n")


def test_maps_are_written_to_files(c7, tmp_path):
    page, picture = tmp_path / "map.html", tmp_path / "map.svg"

    main(["verify", c7, "--scale", "1,1", "--workers", "1", "-o", f"html={page}", "-o", f"svg={picture}", "-q"])

    assert '"cells":[{"nodes":' in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--scale", "many"], "'many' is not esc, none or NODES,PODS-PER-NODE"),
        (["--scale", "0,1"], "'0,1' is not esc"),
        (["--all"], "--all is about a sweep, and this verifies one size"),
        (["--fast-find"], "--fast-find is about a sweep"),
        (["-o", "png=map.png"], "pictures are written as SVG: write svg=FILE"),
        (["-o", "svg=map.svg"], "-o svg is about a sweep, and this verifies one size"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(c7, capsys, monkeypatch, tmp_path, arguments, problem):
    monkeypatch.chdir(tmp_path)

    assert main(["verify", c7, *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_the_advice_for_flags_of_sweeps_can_be_followed(c7, capsys, tmp_path):
    plain = tmp_path / "plain.yaml"
    plain.write_text(text_of("c7", "violating").partition("  scale:")[0], encoding="utf-8")
    alone = tmp_path / "alone.yaml"
    alone.write_text("---\n".join(part for part in plain.read_text().split("---\n") if "kind: Scenario" not in part))

    main(["verify", str(plain), "--all"])
    assert "Say in spec.scale of a Scenario which nodes and workloads grow." in capsys.readouterr().err
    assert main(["verify", str(alone), "--scale", "2,3"]) == 2
    assert "a sweep needs a Scenario, and the input has none. Write one whose spec.scale" in capsys.readouterr().err
    assert main(["verify", c7, "--scale", "none", "--all"]) == 2
    assert "Name a limit other than none with --scale" in capsys.readouterr().err


def test_an_executor_without_a_sweep_is_refused_if_it_was_typed(c7, capsys, monkeypatch):
    elsewhere = "dask://127.0.0.1:1"
    assert main(["verify", c7, "--scale", "none", "--executor", elsewhere]) == 2
    assert f"--executor {elsewhere} is about a sweep, and this verifies one size" in capsys.readouterr().err
    assert main(["cases", "run", "c7", "--executor", elsewhere]) == 2
    assert f"--executor {elsewhere} is about a sweep; add --scale esc" in capsys.readouterr().err

    monkeypatch.setenv("KUBEPROOF_EXECUTOR", elsewhere)  # for the sweeps among all runs
    assert main(["verify", c7, "--scale", "none", "-q"]) == 1
    monkeypatch.delenv("KUBEPROOF_EXECUTOR")
    assert main(["verify", c7, "--scale", "none", "-q", "--executor", "auto"]) == 1


def test_a_case_without_a_scale_is_named(capsys, tmp_path):
    (tmp_path / "mine.yaml").write_text(text_of("c7", "violating").partition("  scale:")[0], encoding="utf-8")

    assert main(["cases", "esc", str(tmp_path)]) == 2
    assert f"case mine.yaml ({tmp_path / 'mine.yaml'}) has no Scenario with spec.scale" in capsys.readouterr().err


def test_a_picture_of_one_size_is_refused_before_the_search(c7, monkeypatch, tmp_path):
    monkeypatch.setattr("kubeproof.verify.run.verify", lambda *given: pytest.fail("it searched"))

    assert main(["verify", c7, "-o", f"svg={tmp_path / 'map.svg'}"]) == 2


def test_a_checkpoint_of_another_scale_is_refused_in_the_words_of_the_flag(c7, capsys, tmp_path):
    checkpoint = ["--checkpoint", str(tmp_path / "run"), "--workers", "1"]
    assert main(["verify", c7, "--scale", "esc", *checkpoint]) == 1
    capsys.readouterr()

    assert main(["verify", c7, "--scale", "2,3", *checkpoint, "--resume"]) == 2
    assert "of another run: scale was 'esc (6,6)' and is '2,3'. Repeat" in capsys.readouterr().err


def test_cases_run_at_every_size(capsys):
    assert main(["cases", "run", "c7", "c4", "--scale", "2,3", "--workers", "1"]) == 0

    lines = [line.rpartition("  ")[0].split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["case", "variant", "expected", "verdict", "nodes", "pods", "sizes", "verified", "states"]
    assert lines[1][:8] == ["c7", "violating", "VIOLATED", "VIOLATED", "1", "1", "54", "1"]
    assert lines[2][:3] == ["c4", "violating", "VIOLATED"]


def test_the_recorded_basis_of_the_esc_is_what_the_cases_give():
    computed = esc_from(find_minima())

    assert computed == read_shipped_esc()
    assert (computed.nodes, computed.pods_per_node) == (6, 6)


def test_the_esc_of_a_directory_of_ones_own(tmp_path, capsys):
    (tmp_path / "ours.yaml").write_text(text_of("c7"), encoding="utf-8")
    folder = tmp_path / "theirs"
    folder.mkdir()
    for path in load_case("c2"):
        (folder / Path(path).name).write_bytes(Path(path).read_bytes())

    assert main(["cases", "esc", str(tmp_path), "--workers", "1"]) == 0
    assert capsys.readouterr().out == (
        "case       nodes  pods  pods per node  sizes tried  smallest cluster that fails\n"
        "ours.yaml  1      1     1              2            1 x node-1\n"
        "theirs     1      2     2              2            1 x node-1\n"
        "ESC: 2 nodes, 4 pods per node (twice the most of each)\n"
    )


def test_a_library_without_failures_has_no_esc(tmp_path, capsys):
    (tmp_path / "fine.yaml").write_text(text_of("c7", "safe"), encoding="utf-8")

    assert main(["cases", "esc", str(tmp_path), "--workers", "1"]) == 5
    assert "no case fails within its ranges" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_directory_without_cases_is_wrong_usage(tmp_path, name):
    (tmp_path / "empty").mkdir()

    assert main(["cases", "esc", str(tmp_path / name)]) == 2


def test_the_esc_has_a_machine_form(tmp_path, capsys):
    (tmp_path / "ours.yaml").write_text(text_of("c7"), encoding="utf-8")

    assert main(["cases", "esc", str(tmp_path), "--workers", "1", "-o", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["esc"] == {"nodes": 2, "pods_per_node": 2}
    assert document["basis"][0]["kinds"] == {"node-1": 1, "node-2": 0}


def test_progress_tells_sizes_speed_the_rest_and_the_smallest_violation():
    size = Size((("a", 2),), (("Deployment/shop/web", 5),))

    assert describe_sweep(SweepProgress(10, 110, size, 5000, 2.0, size)) == (
        "sizes 10/110, at 2 nodes and 5 pods, 2,500 states/s, 2.0 s, at least 20 s to go, "
        "violated at 2 nodes and 5 pods"
    )
    assert describe_sweep(SweepProgress(0, 3, None, 0, 0.0, None)) == "sizes 0/3, 0 states/s"
