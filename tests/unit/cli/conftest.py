"""A command line whose use cases are fakes."""

import sys
from dataclasses import replace
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest

# Import functions that are faked below by name: imported here, they keep the real ones.
import kubeproof.manifests.settings.exemptions
import kubeproof.report.formats.sarif
import kubeproof.report.lexicon.properties
import kubeproof.verify.words.pictures  # noqa: F401  imported for its effect
from kubeproof.verify.options import SearchProgress
from kubeproof.verify.result import ReplayReport
from tests.unit.report.results import RESULT, TRACE

REPLAY = ReplayReport("one-node-down", "web fits", TRACE.steps, None, "VIOLATED", "confirmed", ())


class FakeInput(str):
    """An input without a scale."""

    scenario = SimpleNamespace(scale=None, is_default=False)
    ignores = ()
    notes = ()


class FakeUseCases:
    """Stands in for loading, verifying and replaying; remembers what it was asked."""

    def __init__(self):
        self.result = RESULT
        self.replayed = REPLAY
        self.problem = None
        self.paths = None
        self.options = None

    def load(self, paths, stdin=None, given=(), render=None, pools=(), allow_outside=False, is_tolerant=False):
        self.paths = paths
        return FakeInput("loaded")

    def verify(self, loaded, options, progress, *, stop=None, found=None):
        self.options = options
        if self.problem is not None:
            raise self.problem
        if progress is not None:
            progress(SearchProgress(2000, 5000, 30, 4, 0.5, "searching"))
        return self.result

    def replay_file(self, path, intent=None, controllers=()):
        self.paths = path
        return self.replayed

    def answer(self, *verdicts, stopped_by=None):
        """Makes the next verification end with these verdicts."""
        results = tuple(replace(RESULT.results[1], verdict=verdict) for verdict in verdicts)
        statistics = replace(RESULT.statistics, stopped_by=stopped_by)
        self.result = replace(RESULT, results=results, statistics=statistics, verdict=(verdicts or ("VACUOUS",))[0])


ENTRIES = (
    SimpleNamespace(
        id="S001",
        key="minReady",
        category="numbers",
        whole_text="At least count pods are ready.",
        fields=("count",),
    ),
    SimpleNamespace(
        id="L001", key="settles", category="oscillation", whole_text="The cluster becomes stable.", fields=()
    ),
)


@pytest.fixture
def fakes(monkeypatch, tmp_path):
    """The fake use cases, in an empty working directory and a clean environment."""
    use_cases = FakeUseCases()
    _install(monkeypatch, "kubeproof.manifests.load", load=use_cases.load)
    _install(
        monkeypatch, "kubeproof.manifests.scenarios.commented_scenario", as_yaml=lambda loaded: f"kind: {loaded}\n"
    )
    _install(monkeypatch, "kubeproof.verify.run", verify=use_cases.verify)
    _install(monkeypatch, "kubeproof.verify.checks.alone", check_alone=lambda loaded: None)
    _install(monkeypatch, "kubeproof.verify.counterexamples.replay", replay_file=use_cases.replay_file)
    _install(monkeypatch, "kubeproof.intents.catalogue", catalogue=lambda: ENTRIES)
    monkeypatch.setattr("kubeproof.verify.words.pictures.films_of", lambda result, options, **_: ())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kubeproof"])
    monkeypatch.delenv("KUBEPROOF_DEBUG", raising=False)
    return use_cases


def _install(monkeypatch, name, **functions):
    """Puts a module in the place of a real one that differs in these functions only."""
    module = ModuleType(name)
    vars(module).update(vars(import_module(name)), **functions)
    monkeypatch.setitem(sys.modules, name, module)
