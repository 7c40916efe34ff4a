"""`kubeproof tune` from a path to a ranking, a diff, and the word of `verify`."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.manifests.load import load_texts
from kubeproof.simulate.options import SimulateOptions
from kubeproof.tune.margins import margin_of
from kubeproof.tune.run import TuneOptions, tune_cluster
from kubeproof.tune.values import parse_asked
from kubeproof.verdicts import Verdict
from tests.unit.tune.promised import PROMISED

ASKED = ("--set", "Deployment/shop/web.replicas=1..4", "--set", "nodes=1,2")
SHORT = ("--duration", "2m", "--runs", "4", "--progress", "never")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "web.yaml"
    path.write_text(PROMISED, encoding="utf-8")
    return path


def tune(text=PROMISED, **options):
    asked = tuple(parse_asked(one) for one in ASKED if one != "--set")
    simulate = SimulateOptions(duration_s=120, runs=4)
    return tune_cluster(load_texts((("a.yaml", text),)), TuneOptions(simulate=simulate, asked=asked, **options))


def test_the_cheapest_setting_that_keeps_its_promises_is_as_cheap_as_the_best_of_the_grid():
    found = tune()

    grid = tune(settings=8, runs=10_000)
    kept = [one.cost for one in grid.ranking if one.verdict == Verdict.SAMPLED_OK]
    assert found.best.cost <= min(kept)
    assert dict(found.best.settings) == {"Deployment/shop/web.replicas": "2", "nodes": "1"}
    assert found.best.cost == pytest.approx(0.3)
    assert found.current.cost == pytest.approx(0.55)


def test_the_best_setting_is_borne_out_by_fresh_runs_and_by_verify():
    found = tune()

    assert found.confirmed.runs == 4
    assert found.confirmed.verdict == Verdict.SAMPLED_OK
    assert found.confirmed.promises[-1].measured.value != found.best.promises[-1].measured.value
    assert [(one.title, one.verdict) for one in found.verified] == [
        ("S001 minReady Deployment/shop/web", Verdict.HOLDS),
        ("S001 answeredInTime Deployment/shop/web: ready pods for 15 requests a second", Verdict.HOLDS),
    ]


def test_what_verify_refutes_is_passed_over():
    drained = "events: [{nodeFailure: {max: 1, nodes: {names: [n1]}}}]\n  intents:"

    found = tune(PROMISED.replace("intents:", drained))

    assert found.passed_over
    assert all("verify finds a run that violates S001 minReady" in why for _, why in found.passed_over)
    assert found.best is None or dict(found.best.settings)["nodes"] == "2"


def test_a_promise_that_nothing_keeps_has_no_best_setting():
    found = tune(PROMISED.replace("400ms", "1ms"))

    assert found.best is None
    assert found.verdict == Verdict.VIOLATED
    assert {one.verdict for one in found.ranking} == {Verdict.VIOLATED}


def test_without_prices_a_node_hour_counts_one():
    found = tune(PROMISED.replace("    cost: {nodeHour: 0.2, podHour: 0.05}\n", "").replace("  quantify:\n", ""))

    assert not found.has_prices
    assert found.best.cost == pytest.approx(1.02)


def test_a_margin_is_zero_at_the_limit_and_counts_what_goes_wrong():
    found = tune(settings=1)
    promise = next(one for one in found.ranking[0].promises if one.measured is not None)

    assert margin_of(found.ranking[0].promises) <= 1.0
    assert promise.key == "answeredInTime"
    assert promise.limit == 0.99


def test_the_command_tells_the_setting_and_writes_it(file, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)

    assert main(["tune", "web.yaml", *ASKED, *SHORT, "--write"]) == 0

    told = capsys.readouterr().out
    assert "Best: Deployment/shop/web.replicas=2, nodes=1\n" in told
    assert "-  replicas: 3\n    +  replicas: 2\n" in told
    assert "in 4 fresh runs, which had no part in choosing it" in told
    assert told.endswith("of 8, -45 % against the input\n")
    assert file.read_text(encoding="utf-8") == PROMISED.replace("replicas: 3", "replicas: 2").replace(
        PROMISED.split("---\n")[1] + "---\n", "", 1
    )


def test_formats(file, capsys, tmp_path):
    saved, page = tmp_path / "tune.json", tmp_path / "tune.html"

    assert main(["tune", str(file), *ASKED, *SHORT, "-o", "diff", "-o", f"json={saved}", "-o", f"html={page}"]) == 0

    assert capsys.readouterr().out.count("@@") == 2
    told = json.loads(saved.read_text(encoding="utf-8"))
    assert told["kind"] == "TuneResult"
    assert told["best"]["settings"] == {"Deployment/shop/web.replicas": "2", "nodes": "1"}
    assert told["knobs"][1] == {"key": "nodes", "values": ["1", "2"], "now": "2"}
    assert sum(one["is_current"] for one in told["ranking"]) == 1
    lower, value, upper = (told["confirmed"]["promises"][1][key] for key in ("lower", "value", "upper"))
    assert 0.99 <= lower <= value <= upper <= 1
    assert "Best setting found" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--set", "nodes=x"], 2, "not a whole number"),
        (["--duration", "0s"], 2, "--duration"),
        (["--confidence", "200%"], 2, "--confidence"),
    ],
)
def test_wrong_usage_is_told(file, capsys, words, code, problem):
    assert main(["tune", str(file), *words]) == code
    assert problem in capsys.readouterr().err


def test_nothing_promised_is_nothing_to_tune(file, capsys):
    begin = PROMISED.index("  intents:")
    Path(file).write_text(PROMISED[:begin] + "  intents: []\n" + PROMISED[PROMISED.index("  quantify:") :], "utf-8")

    assert main(["tune", str(file), *ASKED]) == 5
    assert "nothing is promised" in capsys.readouterr().err


def test_what_waits_for_events_that_do_not_come_is_no_broken_promise():
    found = tune(PROMISED.replace("  - minReady:", "  - drainCompletes: {}\n  - minReady:"), settings=3)

    promises = {one.key: one.verdict for one in found.confirmed.promises}
    assert promises["drainCompletes"] == Verdict.VACUOUS
    assert found.best is not None


def test_a_number_of_pods_that_is_never_reached_is_not_kept():
    found = tune(
        PROMISED.replace('cpu: "1", memory', 'cpu: "9", memory').replace('limits: {cpu: "1"}', 'limits: {cpu: "9"}')
    )

    assert found.best is None


def test_input_that_is_no_file_gets_a_patch(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(PROMISED.encode())))

    assert main(["tune", "-", "--set", "nodes=1,2", *SHORT, "--settings", "2"]) == 0
    told = capsys.readouterr().out
    assert '{"$patch": "delete", "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}}' in told


def test_assumed_nodes_have_no_number(file, capsys):
    file.write_text(PROMISED.replace("kind: Node\n", "kind: Namespace\n").replace("status: {all", "# {all"), "utf-8")

    assert main(["tune", str(file), "--set", "nodes=1,2", *SHORT]) == 2
    assert "the input has no Node objects" in capsys.readouterr().err


def test_keys_are_listed(capsys):
    assert main(["tune", "--keys"]) == 0
    assert "hpa.targetCPU" in capsys.readouterr().out
