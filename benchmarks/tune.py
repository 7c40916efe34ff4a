"""How many runs `tune` needs, against full grids of 200 settings.

python benchmarks/tune.py              all three: the simulated shop (some minutes), two published experiments (seconds)
python benchmarks/tune.py abs-1 abs-2  some of them
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from kubeproof.manifests.load import load
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.published.experiments import find_published
from kubeproof.stop import Stop
from kubeproof.tune.clusters import Cluster
from kubeproof.tune.knobs import make_knobs
from kubeproof.tune.published import Published
from kubeproof.tune.racing import Budget, Race
from kubeproof.tune.run import choose, split_budget
from kubeproof.tune.space import Setting
from kubeproof.tune.subject import Measure, RefusedSetting, Subject
from kubeproof.tune.values import parse_asked
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.inputs import open_input

SHOP = Path(__file__).parents[1] / "examples/11-simulated-shop"
OF_SHOP = ("hpa.targetCPU=50..90:10", "hpa.minReplicas=2..5", "Deployment/shop/catalog.replicas=1..5", "nodes=2,3")
OF_ONE = ("service-1.up=50%,60%,70%,80%,90%", "service-1.coolDown=5,10,20,40", "service-1.max=2,3,4,6,8", "nodes=2,3")
OF_TWO = ("service-1.up=50%,60%,70%,80%,95%", "service-2.up=50%,60%,70%,80%,90%", "service-2.max=2,4,6,10", "nodes=2,3")
RUNS = 10  # of one setting of the shop
SHARE = 10  # a tenth
SAME = 1.0005  # costs that `tune` takes for equal


@dataclass(frozen=True, slots=True)
class Figures:
    """A grid and what was found in it."""

    name: str
    settings: int
    grid_runs: int
    grid_cost: float
    runs: int
    cost: float
    grid_cpu_s: float
    cpu_s: float

    @property
    def is_met(self) -> bool:
        """At least as cheap, in at most a tenth of the runs."""
        return self.cost <= SAME * self.grid_cost and self.runs * SHARE <= self.grid_runs


def shop() -> Subject:
    """The simulated shop: three knobs and its nodes."""
    given = open_input(load((str(SHOP),)))
    knobs = make_knobs(given.objects, [parse_asked(one) for one in OF_SHOP], ())
    return Cluster(given, knobs, SimulateOptions(runs=RUNS))


def published(name: str, axes: tuple[str, ...], config: str = "calibration") -> Subject:
    """An experiment, with what may be set."""
    return Published(find_published(name, config), [parse_asked(one) for one in axes])


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "shop": shop,
    "abs-1": lambda: published("abs-1", OF_ONE),
    "abs-2": lambda: published("abs-2", OF_TWO, "1"),
}


def search(name: str) -> tuple[float, int]:
    """Cost of an hour of what `tune` chooses, and how many runs it takes, the fresh ones of the winner included."""
    subject = SUBJECTS[name]()
    most = subject.space.size * subject.most_runs // SHARE
    budget = split_budget(most, most, subject.most_runs) if isinstance(subject, Cluster) else Budget(most, most)
    race = Race(subject, budget, Random(0), Stop())
    race.run()
    if isinstance(subject, Cluster):
        choice = choose(subject, race, 0.0, Stop(), most - race.runs)
        best, runs = choice.best, race.runs + choice.runs
    else:
        best, runs = race.best(), race.runs
    return (subject.run(best, subject.most_runs).cost if best is not None else float("inf")), runs


def grid(name: str) -> tuple[float, int]:
    """The cheapest cost of all settings that keep their promises, each with all its runs."""
    subject = SUBJECTS[name]()
    kept, runs = [], 0
    for setting in subject.space.all():
        found = measure(subject, setting)
        runs += subject.most_runs
        if found is not None and found.verdict == Verdict.SAMPLED_OK:
            kept.append(found.cost)
    return min(kept), runs


def measure(subject: Subject, setting: Setting) -> Measure | None:
    """All runs of a setting; None if nobody takes it."""
    try:
        return subject.run(setting, subject.most_runs)
    except RefusedSetting:
        return None


def compare(name: str) -> Figures:
    """Both, with their CPU time."""
    begin = time.process_time()
    cost, runs = search(name)
    middle = time.process_time()
    grid_cost, grid_runs = grid(name)
    end = time.process_time()
    size = SUBJECTS[name]().space.size
    return Figures(name, size, grid_runs, grid_cost, runs, cost, end - middle, middle - begin)


def main(names: list[str]) -> int:
    """Prints a line for each; 1 if one misses its bar."""
    every = []
    for name in names or list(SUBJECTS):
        one = compare(name)
        every.append(one)
        print(
            f"{name:6} {one.settings} settings: grid {one.grid_runs:,} runs, cheapest {one.grid_cost:.5g}, "
            f"{one.grid_cpu_s:.1f} s CPU; tune {one.runs:,} runs, {one.cost:.5g}, {one.cpu_s:.1f} s CPU: "
            f"{'met' if one.is_met else 'MISSED'}",
            flush=True,
        )
    return 0 if all(one.is_met for one in every) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
