"""Tuning a cluster: settings are edits of its manifests, runs are those of `simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.errors import EnvironmentProblem, InternalError, KubeproofError
from kubeproof.events.quantities import Prices
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.simulation import judge_runs
from kubeproof.simulate.spreading import Runs, RunTask
from kubeproof.tune.knobs import ClusterKnob
from kubeproof.tune.margins import margin_of
from kubeproof.tune.space import Setting, Space
from kubeproof.tune.subject import Measure, RefusedSetting
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.fix.inputs import Input, change

USUAL_PRICES = Prices(node_hour=1.0, pod_hour=0.01)  # where the Scenario has none
HOUR_S = 3600


class Cluster:
    """A cluster with knobs."""

    def __init__(self, given: Input, knobs: Sequence[ClusterKnob], options: SimulateOptions) -> None:
        self._given, self._knobs, self._options = given, tuple(knobs), options
        self.space = Space(tuple(one.knob for one in knobs))
        self.most_runs = options.runs
        self._runs: dict[Setting, tuple[Runs, Loaded, list[RunRecord]]] = {}

    def edits(self, setting: Setting) -> tuple[Edit, ...]:
        """What to change of the manifests for a setting."""
        found = (one.edit(at) for one, at in zip(self._knobs, setting, strict=True) if at != one.knob.now)
        return tuple(edit for edit in found if edit is not None)

    def load(self, setting: Setting) -> Loaded:
        """The input with a setting; raises RefusedSetting if it cannot be read then."""
        try:
            loaded = load_texts(change(self._given, self.edits(setting)).texts, keeps_texts=False)
        except KubeproofError as problem:
            raise RefusedSetting(str(problem)) from None
        settings = loaded.scenario.quantify
        if settings.prices is None:
            settings = replace(settings, prices=USUAL_PRICES)
        return replace(loaded, scenario=replace(loaded.scenario, quantify=settings))

    def run(self, setting: Setting, runs: int) -> Measure:
        """What the first so many runs give."""
        if setting not in self._runs:
            loaded = self.load(setting)
            self._runs[setting] = (Runs(loaded, self._options), loaded, [])
        made, loaded, records = self._runs[setting]
        try:
            while len(records) < runs:
                records.append(made(RunTask(len(records))))
        except (EnvironmentProblem, InternalError):
            raise
        except KubeproofError as problem:
            raise RefusedSetting(str(problem)) from None
        return self._judge(made, loaded, records[:runs])

    def run_again(self, setting: Setting, runs: int) -> Measure:
        """The same with seeds of their own."""
        made, loaded, _ = self._runs[setting]
        begin = self.most_runs
        return self._judge(made, loaded, [made(RunTask(number)) for number in range(begin, begin + runs)])

    def _judge(self, runs: Runs, loaded: Loaded, records: list[RunRecord]) -> Measure:
        promises = judge_runs(loaded, runs.plan, records, self._options)
        hours = self._options.duration_s / HOUR_S
        costs = tuple((record.costs.cost or 0.0) / hours for record in records)
        return Measure(costs, promises, margin_of(promises))
