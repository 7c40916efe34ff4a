"""Against a real API server: set KUBEPROOF_KUBECONFIG to the kubeconfig of a throwaway cluster. Reads only."""

import os

import pytest

from kubeproof.cli.main import main
from kubeproof.live.config import connection
from kubeproof.manifests.load import load_texts

CONFIG = os.environ.get("KUBEPROOF_KUBECONFIG", "")
pytestmark = pytest.mark.skipif(not CONFIG, reason="KUBEPROOF_KUBECONFIG names no cluster")


def test_a_snapshot_of_a_real_cluster_can_be_loaded(capsys):
    assert main(["snapshot", "-A", "--kubeconfig", CONFIG]) == 0
    written = capsys.readouterr().out
    loaded = load_texts([("snap.yaml", written)])

    assert "kind: Namespace" in written
    assert loaded.scenario.is_default


def test_an_anonymous_snapshot_has_the_same_objects(capsys):
    main(["snapshot", "-A", "--kubeconfig", CONFIG])
    plain = capsys.readouterr().out
    main(["snapshot", "-A", "--anonymize", "--kubeconfig", CONFIG])
    hidden = capsys.readouterr().out

    assert sorted(line for line in plain.splitlines() if line.startswith("kind: ")) == sorted(
        line for line in hidden.splitlines() if line.startswith("kind: ")
    )


def test_a_cluster_is_watched_for_a_moment(tmp_path, capsys):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
        "spec: {intents: [{maxNodes: {count: 100000}}]}\n",
        encoding="utf-8",
    )

    assert connection(kubeconfig=CONFIG).server.startswith("http")
    words = ["--live", "-A", "--kubeconfig", CONFIG, "--for", "1s"]
    assert main(["monitor", "run", "--scenario", str(scenario), *words]) == 0
