"""The generated part of docs/reference/control-plane-runs.md: one row per recorded run, and why rows differ."""

from __future__ import annotations

from tests.conformance.controlplane.following import Followed, follow
from tests.conformance.controlplane.matching import Match, match
from tests.conformance.controlplane.runs import Run, all_runs

COLUMNS = (
    "run",
    "Kubernetes, descheduler",
    "actions: real, ours",
    "matched",
    "rate",
    "rate, same choices",
    "accepted as a run of the model",
    "ahead",
)
TIES = """\
**Ties.** Below 100 % outside C7 is a pod on another of several nodes with the same best score. Which of them upstream
takes depends on the order of its node list; the counterexample shows one of the choices. The search follows all of
them, and *accepted* says that the real choice is one of ours.
"""
FAILED = """\
**C7, who is first.** Two loops get rid of a pod on a node whose NoExecute taint it does not tolerate: the kubelet
rejects it, and taint eviction deletes it. Either may be first; the counterexample shows the kubelet.

- `c7-N`: kubelets look at a new pod at once, and were first every time. Taint eviction then deletes what is left,
  the object of a failed pod. The model keeps no such objects, so these deletions have no step in it; no other loop
  reacts to them. All the rest is accepted.
- `c7-late-kubelets-N`: kubelets do not look in time, and taint eviction is always first. Every action is a step of
  the model; the rate is low only because the counterexample has the other winner.
- `c7-slow-kubelets-N`: kubelets look after two seconds, and of pods created together some are rejected and some
  deleted. **Such a mix is not a run of the model**, whose kubelet and whose taint eviction each take all pods of one
  kind on a node in one step. The model has the runs in which either takes them all.
"""


def page() -> str:
    """The table of all committed runs, and the explanations."""
    head = f"{_line(COLUMNS)}{_line(['---'] * len(COLUMNS))}"
    rows = "".join(_row(run, match(run), follow(run)) for run in all_runs())
    return f"{head}{rows}\n{TIES}\n{FAILED}"


def _row(run: Run, matched: Match, followed: Followed) -> str:
    built = run.header["versions"]
    beyond = f" ({followed.beyond} about failed pods)" if followed.beyond else ""
    return _line(
        [
            f"`{run.name}`",
            ", ".join(built[name] for name in ("kubernetes", "descheduler") if name in built),
            f"{matched.of_run}, {matched.of_counterexample}",
            str(matched.matched),
            f"{matched.percent:.1f} %",
            f"{followed.percent:.1f} %",
            f"{followed.accepted} of {followed.total}{beyond}",
            str(followed.displaced),
        ]
    )


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"
