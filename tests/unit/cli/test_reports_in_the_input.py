"""Reports that are written into the folder of the input: the next run leaves them out, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.manifests.inputs import deployment, node, scenario
from tests.unit.simulate.inputs import AUTOSCALER, REQUESTS, WEB

LEFT_OUT = "a report of kubeproof"
SIMULATE = ("simulate", "--duration", "60s")
NETWORK = ("network", "verify", "--from-manifests", "--cannot-reach", f"world -> {WEB}")
QUANTIFY = ("quantify", "cluster", "--within", "60s")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two pods of three that are wanted: there are counterexamples to write."""
    web = deployment("web", spec="replicas: 2,", container=REQUESTS)
    intents = f"intents: [{{minReady: {{target: {WEB}, count: 3, when: stable}}}}]"
    (tmp_path / "shop.yaml").write_text(
        "\n---\n".join((node("n1"), node("n2"), web, AUTOSCALER, scenario(f"start: deployed\n{intents}")))
    )
    return tmp_path


def run(words: tuple[str, ...], folder: Path, *more: str) -> int:
    return main([*words, str(folder), *more])


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("verify",), "json"),
        (("verify",), "sarif"),
        (("verify",), "itf"),
        (SIMULATE, "json"),
        ((*SIMULATE, "--vary", "hpa.targetCPU=50,60"), "json"),
        (NETWORK, "json"),
        (QUANTIFY, "json"),
    ],
)
def test_the_next_run_leaves_the_report_out(
    words: tuple[str, ...], form: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if words == QUANTIFY:
        pytest.importorskip("stormpy")
    report = shop / "a.json"
    first = run(words, shop, "-o", f"{form}={report}")
    told = capsys.readouterr()

    assert first in (0, 1)
    assert told.out == ""
    assert f"see {report}\n" in told.err  # where it went
    assert (
        run(words, shop, "-o", "json" if "--vary" in words else "text") == first
    )  # the table of variants has no notes
    assert LEFT_OUT in capsys.readouterr().out


@pytest.mark.parametrize("words", [("verify",), SIMULATE, NETWORK])
def test_every_command_leaves_out_what_another_wrote(words: tuple[str, ...], shop: Path) -> None:
    alone = run(words, shop)
    run(("verify",), shop, "-o", f"json={shop / 'verify.json'}", "--write-baseline", str(shop / "known.json"))
    run(SIMULATE, shop, "-o", f"json={shop / 'simulate.json'}")
    run(NETWORK, shop, "-o", f"json={shop / 'network.json'}")
    main(["replay", str(shop / "verify.json"), "-o", f"json={shop / 'replay.json'}"])
    main(["diff", str(shop / "shop.yaml"), str(shop / "shop.yaml"), "-o", f"json={shop / 'diff.json'}"])
    main(["simulate", "--experiment", "abs-1", "-o", f"json={shop / 'experiment.json'}"])

    assert len(list(shop.glob("*.json"))) == 7
    assert run(words, shop) == alone


def test_an_experiment_that_is_written_to_a_file_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-1", "-o", f"csv={tmp_path / 'curves.csv'}"]) == 0

    assert capsys.readouterr() == ("", f"see {tmp_path / 'curves.csv'}\n")


def test_nothing_is_said_beside_a_report_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-1", "-o", "text", "-o", f"csv={tmp_path / 'curves.csv'}"]) == 0

    assert capsys.readouterr().err == ""
