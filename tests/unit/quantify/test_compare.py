"""Variants of a cluster side by side: the same load, the same questions, a plot that needs nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import UsageError
from kubeproof.quantify.clusters.options import AMOUNTS, WITHIN, ClusterOptions
from kubeproof.report.quantify.compare import as_html, as_json, as_svg, as_text
from tests.unit.quantify.clusters import text_of, tiny
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

CRASH = "[{podCrash: {target: Deployment/web, probability: 0.25}}]"
POWER = "{power: {idle: 100, max: 200}, horizon: 2m}"
HOSTILE = '<script>"&\x1b[31m'
SVG = "{http://www.w3.org/2000/svg}"


def found(folder: Path, names=("one", "two"), horizon_s=None, **options):
    from kubeproof.quantify.clusters.compare import compare

    loaded = tiny(folder, CRASH, quantify=POWER)
    node = loaded.setup.nodes[0]
    larger = replace(loaded, setup=replace(loaded.setup, nodes=(replace(node, cpu_milli=2 * node.cpu_milli),)))
    variants = list(zip(names, (loaded, larger), strict=True))
    return compare(variants, ClusterOptions(questions=(WITHIN, AMOUNTS), horizon_s=horizon_s), **options)


def test_every_question_has_a_column_per_variant(tmp_path: Path) -> None:
    text = as_text(found(tmp_path))

    assert [line.split() for line in text.splitlines()] == [
        ["one", "two"],
        ["P(minReady", "Deployment/default/web", "is", "violated", "within", "2", "min)", "0.4375", "0.4375"],
        ["expected", "pod-hours", "over", "2", "min", "0.0333333", "0.0333333"],
        ["expected", "node-hours", "over", "2", "min", "0.0333333", "0.0333333"],
        ["expected", "kWh", "over", "2", "min", "0.00416667", "0.00375"],
        ["states", "4", "4"],
    ]


def test_the_plot_has_a_rectangle_per_variant_with_its_numbers(tmp_path: Path) -> None:
    drawn = ElementTree.fromstring(as_svg(found(tmp_path)))

    titles = [title.text for title in drawn.iter(f"{SVG}title")]
    assert len(list(drawn.iter(f"{SVG}rect"))) == 3  # with the ground
    assert titles == [
        "one: risk 0.4375 to 0.4375, amount 0.00416667 to 0.00416667",
        "two: risk 0.4375 to 0.4375, amount 0.00375 to 0.00375",
    ]
    assert "expected kWh over 2 min" in [text.text for text in drawn.iter(f"{SVG}text")]


def test_names_from_the_input_are_harmless_in_every_format(tmp_path: Path) -> None:
    result = found(tmp_path, names=("one", HOSTILE))

    assert "<script>" not in as_svg(result)
    assert "&lt;script&gt;&quot;&amp;\\x1b[31m" in as_svg(result)
    assert HOSTILE not in as_html(result)
    assert as_html(result).count("<script") == 2  # the data and the script of the page
    assert "\x1b" not in as_text(result)
    assert [variant["name"] for variant in json.loads(as_json(result))["variants"]] == ["one", HOSTILE]
    assert "Content-Security-Policy" in as_html(result)


def test_what_was_not_computed_is_told_in_text_and_on_the_page(tmp_path: Path) -> None:
    result = found(tmp_path, horizon_s=10**9)
    told = "not computed: minReady Deployment/default/web of two: too many states to look 1000000000 s ahead"

    assert told in as_text(result)
    assert told in as_html(result)


def test_other_load_is_not_compared(tmp_path: Path) -> None:
    from kubeproof.quantify.clusters.compare import check_same_load

    one = tiny(tmp_path, CRASH)
    other = tiny(tmp_path, CRASH.replace("0.25", "0.5"))

    with pytest.raises(UsageError, match="a and b have different events in their Scenarios"):
        check_same_load([("a", one), ("b", other)])


def test_what_to_plot_can_be_chosen(tmp_path: Path) -> None:
    result = found(tmp_path, against="pods", risk="minReady Deployment/default/web")

    assert result.against is not None
    assert (result.against.name, result.against.unit) == ("pods", "pod-hours")
    with pytest.raises(UsageError, match="--risk 'nothing' is no safety intent"):
        found(tmp_path, risk="nothing")
    with pytest.raises(UsageError, match="--against 'cost' is no amount here"):
        found(tmp_path, against="cost")


def test_the_command_reads_shared_files_and_writes_the_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, picture = tmp_path / "all.yaml", tmp_path / "plot.svg"
    whole.write_text(text_of(CRASH, quantify=POWER))
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    variants = [str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]

    code = main(
        [
            "quantify",
            "compare",
            *variants,
            "--with",
            str(whole),
            "--ask",
            "within",
            "-o",
            "json",
            "-o",
            f"svg={picture}",
        ]
    )

    document = json.loads(capsys.readouterr().out)
    assert code == 0
    assert document["plot"] == {"risk": "minReady Deployment/default/web", "against": None}
    assert [v["results"][0]["violated_within"]["max"]["value"] for v in document["variants"]] == pytest.approx(
        [0.4375] * 2
    )
    assert "There is no risk or no amount to plot." in picture.read_text()


def test_one_variant_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "compare", str(tmp_path)]) == 2
    assert "name at least two" in capsys.readouterr().err
