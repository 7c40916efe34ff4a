"""Two states of the manifests side by side: directories and git revisions, every kind of change, exit codes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.report.frame import Frame
from kubeproof.report.style import Style
from kubeproof.report.verification.diff import as_markdown, as_text
from kubeproof.verify.findings.compare import compare
from tests.unit.report.formats import read_markdown
from tests.unit.report.results import PROOF, RESULT, VIOLATION
from tests.unit.report.test_formats import hostile
from tests.unit.verify.inputs import node, scenario, web

INTENTS = "{schedulable: {}}, {settles: {}}"


def cluster(replicas: int, intents: str = INTENTS) -> str:
    """Two pods fit."""
    return "---\n".join((node("a"), web(replicas), scenario(intents)))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with `good` and `bad`."""
    monkeypatch.chdir(tmp_path)
    for name, replicas in (("good", 2), ("bad", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.yaml").write_text(cluster(replicas))
    return tmp_path


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(place: Path) -> Path:
    """A repository whose `k8s` held in `main` and is broken in the working tree."""
    git("init", "-q")
    (place / "k8s").mkdir()
    (place / "k8s" / "in.yaml").write_text(cluster(2))
    git("add", "k8s")
    git("commit", "-q", "-m", "base")
    (place / "k8s" / "in.yaml").write_text(cluster(3))
    return place


@pytest.mark.parametrize(
    ("base", "head", "code", "said"),
    [
        ("good", "bad", 1, "2 intents: 1 newly violated, 1 unchanged"),
        ("bad", "good", 0, "2 intents: 1 fixed, 1 unchanged"),
        ("bad", "bad", 0, "2 intents: 1 still violated, 1 unchanged"),
        ("good", "good", 0, "2 intents: 2 unchanged"),
    ],
)
def test_directories_are_compared(place, capsys, base, head, code, said):
    assert main(["diff", base, head]) == code

    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == said
    assert err == ""


def test_what_is_newly_violated_is_shown_with_its_run(place, capsys):
    main(["diff", "good", "bad"])

    out = capsys.readouterr().out
    assert (
        "✗ S005 schedulable (schedulable Deployment/shop/web) Deployment/shop/web: HOLDS -> VIOLATED (bad/in.yaml:"
        in out
    )
    assert "1 pod(s) of Deployment/shop/web without a node" in out
    assert "What to change: " in out


@pytest.mark.parametrize(
    "words", [["main:k8s", "k8s"], ["HEAD:./k8s", "k8s"], ["--rev", "main", "k8s"], ["--rev", "main", "k8s/in.yaml"]]
)
def test_revisions_are_compared_with_the_working_tree(repository, capsys, words):
    assert main(["diff", *words]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 intents: 1 newly violated, 1 unchanged"


def test_two_revisions_are_compared_and_no_path_of_the_machine_is_shown(repository, capsys):
    git("commit", "-q", "-am", "head")

    assert main(["diff", "HEAD~1:k8s", "HEAD:k8s", "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    places = [change[side]["location"]["file"] for change in found["changes"] for side in ("base", "head")]
    assert set(places) == {"k8s/in.yaml"}


def test_what_git_leaves_out_of_archives_is_not_left_out_of_a_comparison_unsaid(repository, capsys):
    (repository / ".gitattributes").write_text("k8s/in.yaml export-ignore\n")
    git("add", ".gitattributes")
    git("commit", "-q", "-am", "head")

    assert main(["diff", "HEAD~1:k8s", "HEAD:k8s"]) == 2
    assert "'k8s/in.yaml' is left out of archives" in capsys.readouterr().err


def test_paths_of_a_subdirectory_count_from_there(repository, monkeypatch, capsys):
    monkeypatch.chdir(repository / "k8s")

    assert main(["diff", "--rev", "main", "in.yaml"]) == 1


def test_a_base_without_the_path_is_empty(repository, capsys):
    assert main(["diff", "main:bad", "bad"]) == 1

    out = capsys.readouterr().out
    assert "The base has nothing to verify" in out
    assert out.splitlines()[-1] == "2 intents: 1 newly violated, 1 new"


def test_what_both_sides_share_is_named_once(place, capsys):
    for name, replicas in (("a", 2), ("b", 3)):
        (place / name).mkdir()
        (place / name / "web.yaml").write_text(web(replicas))
    (place / "rest.yaml").write_text(node("a") + "---\n" + scenario(INTENTS))

    assert main(["diff", "a", "b", "--with", "rest.yaml"]) == 1


def test_exemptions_count(place, capsys):
    (place / ".kubeproof.yaml").write_text("exemptions: [{id: S005, reason: known}]")

    assert main(["diff", "good", "bad"]) == 0
    assert (
        "S005 schedulable (schedulable Deployment/shop/web) Deployment/shop/web: HOLDS -> SUPPRESSED"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["good"], 2, "name BASE and HEAD"),
        (["good", "none"], 4, "cannot be read"),
        (["nowhere:good", "bad"], 2, "is not a revision"),
        (["--rev", "-x", "good"], 2, "is not a revision"),
        (["main:good", "main:none"], 5, "does not exist in that revision"),
        (["--rev", "main", ".."], 2, "outside the repository"),
    ],
)
def test_what_cannot_be_compared_is_told(repository, capsys, words, code, said):
    assert main(["diff", *words]) == code

    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


def test_outside_a_repository_revisions_are_refused(place, capsys, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(place.parent))

    assert main(["diff", "main:good", "bad"]) == 2
    assert "git rev-parse failed" in capsys.readouterr().err


def test_without_git_revisions_are_a_problem_of_the_environment(repository, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    assert main(["diff", "main:k8s", "bad"]) == 6


@pytest.mark.parametrize(("verdict", "code"), [("UNKNOWN", 3), ("ERROR", 70), ("VACUOUS", 0)])
def test_a_verdict_that_is_lost_is_inconclusive(place, monkeypatch, verdict, code):
    answers = iter([replace(RESULT, results=(replace(PROOF, verdict=word),)) for word in (verdict, "HOLDS")])
    monkeypatch.setattr("kubeproof.api.verification.verify", lambda *_, **__: next(answers))

    assert main(["diff", "good", "bad"]) == code


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, "VIOLATED", "newly violated"),
        ("HOLDS", "VIOLATED", "newly violated"),
        ("SUPPRESSED", "VIOLATED", "newly violated"),
        ("UNKNOWN", "VIOLATED", "newly violated"),
        ("VIOLATED", "VIOLATED", "still violated"),
        ("VIOLATED", "HOLDS", "fixed"),
        ("VIOLATED", "SUPPRESSED", "changed"),
        ("VIOLATED", "VACUOUS", "changed"),
        ("VIOLATED", "UNKNOWN", "no longer decided"),
        ("HOLDS", "UNKNOWN", "no longer decided"),
        ("HOLDS", "ERROR", "no longer decided"),
        ("UNKNOWN", "UNKNOWN", "unchanged"),
        ("UNKNOWN", "HOLDS", "changed"),
        ("HOLDS", "VACUOUS", "changed"),
        (None, "HOLDS", "new"),
        ("HOLDS", None, "gone"),
    ],
)
def test_every_pair_of_verdicts_has_a_name(before, after, kind):
    sides = [
        replace(RESULT, results=() if word is None else (replace(VIOLATION, verdict=word),)) for word in (before, after)
    ]

    assert [change.kind for change in compare(*sides).changes] == [kind]


def test_hostile_names_stay_text_in_every_format():
    found = compare(replace(RESULT, results=(PROOF,)), hostile())
    texts = as_text(found, Style(), Frame()), read_markdown(as_markdown(found, Frame()))

    assert not set("\x1b\r\u202e\u2028\ud800") & set("".join(texts))
