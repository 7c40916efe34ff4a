"""Models of one's own of the published family, in a file; and the reading in which energy falls below idle power."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import ManifestError
from kubeproof.quantify.published.autoscaling import autoscaling_program
from kubeproof.quantify.published.files import load_models, read_models
from kubeproof.quantify.published.parameters import SETTINGS, change
from kubeproof.quantify.published.run import AutoscalingOptions, check_autoscaling
from tests.unit.quantify.programs import needs_storm

FILE = Path(__file__).parents[3] / "examples" / "14-trade-offs" / "autoscaler.yaml"
MODEL = "apiVersion: kubeproof.dev/v1alpha1\nkind: AutoscalingModel\nmetadata: {name: mine}\nspec: "


def test_a_file_has_models_with_their_parameters() -> None:
    one, two = load_models(str(FILE))

    assert (one.name, one.model, one.steps, one.parameters.step_pods) == ("by-ten", "energy", 100, 10)
    assert (two.name, two.parameters.step_pods) == ("by-forty", 40)
    assert one.changed == ("horizon", "max_pods", "step_pods", "idle_power", "max_power")
    assert one.parameters.init_pods == SETTINGS[1].init_pods


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MODEL + "{parameters: {max_podz: 3}}", r"mine.yaml:4: .*max_podz is no parameter. Did you mean max_pods"),
        (MODEL + "{parameters: {max_pods: 0}}", r"mine.yaml:4: impossible parameters"),
        (MODEL + "{parameters: {point_a: 1/2}}", r"mine.yaml:4: point_a=1/2: not DEMAND"),
        (MODEL + "{model: best}", "model"),
        (MODEL + "{setting: 5}", "setting"),
        (MODEL + "{speed: 5}", "speed"),
        (MODEL.replace("AutoscalingModel", "Model") + "{}", "kind"),
        (MODEL + "{}\n---\n" + MODEL + "{}", "mine again"),
        ("- 1", "no mapping"),
        ("", "no model"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_line(text: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        read_models(text.encode(), "mine.yaml")


@needs_storm
def test_both_models_of_a_file_are_checked_for_their_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "autoscaling", "--file", str(FILE), "--only", "energy_min"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["by-ten", "by-forty"]
    assert [line.split()[-1] for line in lines[1:3]] == ["12000", "12000"]  # 100 steps at 120 W


def test_parameters_of_a_file_stand_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "autoscaling", "--file", str(FILE), "--set", "horizon=20"]) == 2
    assert "Write them into the file" in capsys.readouterr().err


def least_energy(model: str, setting: int) -> float:
    """With what is wanted for energy or scalability passing the maximum, over 20 steps of a clock of 20."""
    options = AutoscalingOptions(
        (model,), (setting,), changes={"horizon": "20", "overshoot": "1"}, steps=60, names=("energy_min",)
    )
    return float(check_autoscaling(options).models[0].results[0].answer.value or 0)


@needs_storm
def test_least_energies_fall_below_idle_power_as_in_the_paper() -> None:
    """Base and latency idle for ever; with more pods at first it is less, and the models come in the paper's order."""
    idle = 60 * 170
    first = [least_energy(model, 1) for model in ("energy", "scalability", "full")]
    second = [least_energy(model, 2) for model in ("energy", "scalability", "full")]

    assert [least_energy(model, 1) for model in ("base", "latency")] == pytest.approx([idle, idle])
    assert idle > first[0] >= first[1] >= first[2] > 0
    assert all(after < before for before, after in zip(first, second, strict=True))
    assert least_energy("energy", 3) == pytest.approx(idle)


def test_without_it_the_programs_are_those_of_before() -> None:
    parameters = change(SETTINGS[1], {})

    text = autoscaling_program("full", parameters).text()

    assert "min(limitPod" not in text
    assert "current_pod : [minPod..maxPod]" in text
