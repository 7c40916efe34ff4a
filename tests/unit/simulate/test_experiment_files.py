"""Experiments of one's own: what a file says, and what is refused with its line."""

from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import ManifestError
from kubeproof.simulate.published.experiments import find_published, workflow
from kubeproof.simulate.published.files import as_file, load_experiment, read_experiment
from kubeproof.simulate.published.run import simulate
from tests.unit.simulate.test_experiments import overload

EXAMPLES = Path(__file__).parents[3] / "examples/13-published-model"
SMALL = """apiVersion: kubeproof.dev/v1alpha1
kind: Experiment
metadata: {name: small}
spec:
  intervals: 20
  nodes: [{name: node, cpu: 500, memory: 100}]
  services:
  - {name: a, request: 100, limit: 200, quantum: 5, scaler: {up: 80%, coolDown: 3, max: 3}}
  waves: [{service: a, start: 1, cost: 10, clients: 5, requests: 10}]
  promises: [{service: a, percentile: 95, within: 2s}]
  prices: {nodeHour: 1, podHour: 0.5}
"""


@pytest.mark.parametrize(
    "experiment", [find_published("abs-1"), find_published("abs-2", "1"), workflow(100), workflow(200)]
)
def test_a_published_experiment_written_to_a_file_is_the_same(experiment):
    again = read_experiment(as_file(experiment).encode(), "a.yaml")

    assert again == replace(experiment, name=experiment.name.replace(" ", "-"))


def test_the_overload_of_the_example_is_that_of_the_authors_model():
    own = simulate(load_experiment(str(EXAMPLES / "overload.yaml")))
    wanted = simulate(overload())

    assert [(one.interval, one.pods, one.cpu) for one in own.of("slow")] == [
        (one.interval, one.pods, one.cpu) for one in wanted.of("service-1")
    ]
    assert [one.cpu for one in own.of("quick")] == [one.cpu for one in wanted.of("service-2")]


def test_a_quantum_changes_when_requests_end_and_not_what_they_use():
    plain = simulate(read_experiment(SMALL.replace("quantum: 5, ", "").encode(), "a.yaml"))
    own = simulate(read_experiment(SMALL.encode(), "a.yaml"))

    assert own.readings == plain.readings
    assert own.responses[0].finished == plain.responses[0].finished == 50


def test_all_fields_are_read():
    found = read_experiment(SMALL.encode(), "a.yaml")

    assert found.services[0].scaler.quiet_cycles == 3
    assert found.services[0].quantum == 5
    assert found.promises[0].within_s == 2.0
    assert found.prices.pod_hour == 0.5
    assert found.interval_s == 2.0


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("kind: Experiment", "kind: Network", 2, "kind is not that of an experiment"),
        ("intervals: 20", "intervals: 0", 5, "intervals is 0"),
        ("  intervals: 20\n", "", 5, "intervals is required"),
        ("cost: 10", "cost: 12", 9, "no multiple of the quantum of a"),
        ("waves: [{service: a", "waves: [{service: b", 9, "which is not declared"),
        ("up: 80%", "up: 0", 8, "up is 0"),
        ("up: 80%", "up: eighty", 8, "is 'eighty'"),
        ("within: 2s", "within: 0s", 10, "within is '0s'"),
        ("max: 3", "max: 0", 8, "max is 0"),
        ("nodes: [{name: node, cpu: 500, memory: 100}]", "nodes: []", 6, "is empty or names one twice"),
        ("requests: 10", "requests: 10, colour: red", 9, "colour"),
        ("clients: 5, requests: 10", "clients: 1000000, requests: 1000000", 9, "make more than 100,000,000 requests"),
        ("prices: {nodeHour: 1", "prices: {nodeHour: -1", 11, "nodeHour is '-1'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old, new, line, problem):
    with pytest.raises(ManifestError) as told:
        read_experiment(SMALL.replace(old, new).encode(), "a.yaml")

    assert problem in str(told.value)
    assert told.value.line == line


@pytest.mark.parametrize("text", ["", "a: 1\n---\nb: 2\n", "- 1\n"])
def test_a_file_holds_one_experiment(text):
    with pytest.raises(ManifestError):
        read_experiment(text.encode(), "a.yaml")


def test_stages_are_lists_of_calls():
    flow = "  flow: {start: 1, times: 5, requests: 10, stages: [[{service: a, cost: 100}], [{service: a, cost: 50}]]}\n"
    text = SMALL.replace("quantum: 5, ", "") + flow

    assert len(read_experiment(text.encode(), "a.yaml").flow.stages) == 2
    for old, new in (("[[{", "[{"), ("stages: [[{service: a, cost: 100}], ", "stages: [[], ")):
        with pytest.raises(ManifestError):
            read_experiment(
                text.replace(old, new).replace("}], [{", "}, [{" if new == "[{" else "}], [{").encode(), "a.yaml"
            )
    with pytest.raises(ManifestError, match="quantum"):
        read_experiment((SMALL + flow).encode(), "a.yaml")


def test_the_command_simulates_and_tunes_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(
        SMALL.replace("cpu: 500", "cpu: 600").replace("clients: 5", "clients: 20"), encoding="utf-8"
    )

    assert main(["simulate", "--experiment", "own.yaml", "-o", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") == 21
    words = ["tune", "--experiment", "own.yaml", "--set", "a.max=1..4", "--set", "a.up=60%,90%", "--set", "nodes=1,2"]
    assert main([*words, "--progress", "never"]) == 0
    told = capsys.readouterr().out
    assert "Best: a.max=1" in told
    assert "+  - {name: a, request: 100, limit: 200, quantum: 5, scaler: {up:" in told
    assert main([*words, "--progress", "never", "--write"]) == 0
    assert load_experiment("own.yaml").services[0].scaler.most == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["simulate", "own.yaml", "-o", "yaml"], "it is about --experiment"),
        (["simulate", "--experiment", "abs-9"], "no such file, and no published one"),
        (["simulate", "--experiment", "own.yaml", "--config", "1"], "is about published experiments"),
        (["tune", "--experiment", "abs-1", "--duration", "1h"], "runs of an experiment are all alike"),
        (["tune", "--experiment", "abs-1", "--set", "a.up=1"], "the experiment has no such field"),
        (["tune", "--experiment", "abs-1", "--set", "nodes=2", "--set", "nodes=3"], "names a field twice"),
        (["tune", "--experiment", "abs-1", "--set", "service-1.up=-3"], "is not a share above zero"),
        (["tune", "own.yaml", "--config", "1"], "is about --experiment"),
        (["tune"], "name either PATH... or --experiment"),
    ],
)
def test_wrong_usage_of_experiments(tmp_path, capsys, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(SMALL, encoding="utf-8")

    assert main(words) == 2
    assert problem in capsys.readouterr().err


def test_a_published_experiment_is_tuned_in_a_tenth_of_its_grid(capsys):
    axes = ("service-1.up=50%,60%,70%,80%,90%", "service-1.coolDown=5,10,20,40", "service-1.max=2..6", "nodes=2,3")

    assert (
        main(
            ["tune", "--experiment", "abs-1", *(word for axis in axes for word in ("--set", axis)), "--settings", "20"]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "240 settings, 20 looked at in 20 runs" in told
    assert "the experiment promises nothing" in told
