"""What `quantify` says when something is wrong or takes too long."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.quantify.clusters import OBJECTS, text_of
from tests.unit.quantify.programs import COIN, needs_storm, run_apart

pytestmark = needs_storm
WRONG = """mdp
const int N = 3;
const double p;
formula far = s>=N-1;
module coin
  s : [0..9] init 0; // no [command] -> here
  [fair] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [] s>0 & !far -> true;

  [odd] far & s<N+1
     -> p:(s'=1) + 0.5:(s'=2);
  [end] s>N -> true;
endmodule
rewards "r" [fair] s=0 : 3; endrewards
"""
HIDDEN = "[{nodeFailure: {max: 1, probability: 0.1}}]"


def test_rows_that_do_not_sum_to_1_are_told_with_their_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.prism").write_text(WRONG)
    words = ["quantify", "prism", str(tmp_path / "wrong.prism"), "--const", "p=0.4", "-p", "Pmax=? [F s=9]"]

    assert main(words) == 4
    assert "wrong.prism:10: Probabilities do not sum to one for command '[odd]" in capsys.readouterr().err


def test_commands_that_happen_together_have_no_line_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.prism").write_text(f"{WRONG}module other = coin [s=t] endmodule\n")
    words = ["quantify", "prism", str(tmp_path / "wrong.prism"), "--const", "p=0.4", "-p", "Pmax=? [F s=9]"]

    assert main(words) == 4
    assert "wrong.prism: Sum of update probabilities do not sum to one" in capsys.readouterr().err


def test_a_timeout_tells_what_was_reached(tmp_path: Path) -> None:
    (tmp_path / "coin.prism").write_text(COIN)
    endless = ("-p", 'R{"cost"}max=? [C<=1000000000]', "--timeout", "3")
    found = run_apart("prism", str(tmp_path / "coin.prism"), "--const", "p=0.4", *endless)

    assert found.returncode == 3
    assert "E302 no answer within 3 s (" in found.stderr
    assert "coin.prism: 5 states). Allow more --timeout." in found.stderr


def test_a_cluster_that_is_too_large_points_to_what_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text_of(HIDDEN))

    assert main(["quantify", "cluster", str(file), "--max-states", "2"]) == 3
    told = capsys.readouterr().err
    assert "explored in part only (2 states): stopped by" in told
    assert '"When there are too many states" in docs/how-to/quantify-a-cluster.md' in told


def test_parameters_that_contradict_are_told_with_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "autoscaling", "--set", "horizon=4"]) == 2
    assert "0 <= response_time <= horizon, but response_time is 7, horizon is 4." in capsys.readouterr().err


def test_no_energy_at_all_is_told_as_0(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["quantify", "autoscaling", "--set", "init_pods=500", "--set", "horizon=20", "--only", "energy_min"]

    assert main(words) == 0
    assert "    0\n" in capsys.readouterr().out


def test_what_the_plot_cannot_show_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(text_of("[{podCrash: {target: Deployment/web, probability: 0.25}}]"))
    words = ["quantify", "compare", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]

    assert main([*words, "--against", "cost"]) == 2
    assert "--against 'cost' is no amount here" in capsys.readouterr().err


def test_nodes_alone_are_nothing_to_check(tmp_path: Path) -> None:
    file = tmp_path / "node.yaml"
    file.write_text(OBJECTS.partition("---")[0])

    assert main(["quantify", "cluster", str(file)]) == 5
