"""What an evaluation of rules tells in text."""

from __future__ import annotations

from kubeproof.monitor.mining.evaluate import Judged, score
from kubeproof.monitor.mining.runs import RunInfo
from kubeproof.report.monitor import scores_text


def test_a_share_of_nothing_is_not_told_as_zero() -> None:
    missed = RunInfo("one", "one", True, True, False, None, None, None)
    lines = scores_text(score([Judged(missed, None, None, None)], 4), "rules of r.yaml").splitlines()

    assert lines[:8] == [
        "rules of r.yaml; up to 4 rules; a failure takes 1 event that is wrong",
        "recall             0.000  (0 of 1 failures)",
        "precision          -      (0 of 0 runs called a failure)",
        "F1                 0.000",
        "accuracy           0.000",
        "silent failures    -      (0 of 0 found)",
        "clean runs         -      (0 of 0 called a failure)",
        "early warnings     0.000  (0 of 1 failures warned of before the first symptom)",
    ]
    assert not any(line.startswith("lead") for line in lines)
