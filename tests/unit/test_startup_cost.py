"""What a command imports: starting up must cost what its run needs, not what others might."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kubeproof.controllers.late
import kubeproof.manifests.late
from kubeproof.events import declarations
from tests.unit.verify.inputs import node, scenario, web

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from kubeproof.cli.main import main
code = main(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""
REGISTRIES = (kubeproof.controllers.late, kubeproof.manifests.late)
EVENTS = {kind.__module__ for kind in declarations.kinds()} | {"kubeproof.events.usage", "kubeproof.events.promise"}
LATE = {getattr(registry, name).resolve().__module__ for registry in REGISTRIES for name in registry.__all__}
NOT_FOR_A_DEPLOYMENT = LATE | EVENTS | {
    "asyncio", "concurrent", "distributed", "kubeproof.cli.commands.doctor", "kubeproof.cli.commands.network",
    "kubeproof.cli.commands.properties", "kubeproof.cli.commands.quantify", "kubeproof.controllers.descheduler",
    "kubeproof.controllers.hpa", "kubeproof.controllers.own", "kubeproof.controllers.rollout.sync",
    "kubeproof.engine.reference", "kubeproof.intents.predicates.temporal", "kubeproof.logic",
    "kubeproof.manifests.kinds.cron",
    "kubeproof.network", "kubeproof.quantify", "kubeproof.report.html.heatmap", "kubeproof.report.html.page",
    "kubeproof.verify.executors.pool", "kubeproof.verify.journal", "multiprocessing", "pathlib", "socket",
    "traceback", "urllib",
}  # fmt: skip


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "in.yaml"
    path.write_text("---\n".join((node("a"), web(1), scenario("{settles: {}}"))), encoding="utf-8")
    return str(path)


def imported(*arguments: str) -> set[str]:
    """The modules that a command has imported when it has ended, well or with a violation."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    code, *modules = done.stderr.split()
    assert code in ("0", "1"), done.stderr
    return set(modules)


def test_help_imports_no_room_but_the_command_line():
    modules = imported("--help")

    rooms = {name.split(".")[1] for name in modules if name.startswith("kubeproof.")}
    assert rooms == {
        "cli",
        "errors",
        "named_tuples",
        "report",
        "stop",
        "verdicts",
    }  # of report only how text is escaped
    assert not {"yaml", "json", "dataclasses"} & modules


def test_a_plain_deployment_imports_no_loop_or_event_that_it_lacks(manifest: str):
    assert not NOT_FOR_A_DEPLOYMENT & imported("verify", manifest)


NOT_FOR_WHAT_HOLDS = {
    "kubeproof.controllers.evictions.budgets", "kubeproof.controllers.evictions.disruption", "kubeproof.engine.words",
    "kubeproof.manifests.scenarios.matrix_columns", "kubeproof.manifests.scenarios.scale",
    "kubeproof.model.by_name.system", "kubeproof.verify.counterexamples.lift",
    "kubeproof.verify.counterexamples.traces", "kubeproof.verify.counterexamples.weave",
    "kubeproof.verify.matrix.result", "kubeproof.verify.proofs.crowd.room", "kubeproof.verify.proofs.slices",
    "kubeproof.verify.resize", "kubeproof.verify.scaling.setups", "kubeproof.verify.words.explain",
}  # fmt: skip
RARE_FACTS = {
    f"kubeproof.intents.facts.{name}" for name in ("daemons", "drained", "jobs", "places", "stateful", "traffic")
}


def test_what_holds_in_one_small_search_imports_no_run_by_name_no_parts_and_no_sizes(manifest: str):
    modules = imported("verify", manifest)

    assert sorted((NOT_FOR_WHAT_HOLDS | RARE_FACTS) & modules) == []


def test_a_descheduler_imports_only_the_plugins_of_its_policy():
    modules = imported("cases", "run", "c5", "--scale", "esc", "-o", "json")

    package = "kubeproof.controllers.descheduler.plugins."
    assert {name.removeprefix(package) for name in modules if name.startswith(package)} == {"duplicates"}


def test_a_sweep_that_ends_at_once_starts_no_other_process():
    modules = imported("cases", "run", "c7", "--scale", "esc", "-o", "json")

    arguing = {"kubeproof.controllers.hpa", "kubeproof.events.nodes.drain"}  # one pod is followed, whatever others do
    assert not (NOT_FOR_A_DEPLOYMENT - arguing) & modules
