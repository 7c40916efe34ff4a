"""What running a cluster takes over the horizon: pod-hours, node-hours, energy and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubeproof.quantify.chains.slices import slice_chain, slice_of, slices_of
from kubeproof.quantify.clusters.questions import MOST_WORK, ask, work_per_s
from kubeproof.quantify.clusters.result import Amount, Span
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.manifests.loaded import Scenario
    from kubeproof.quantify.chains.chain import Chain
    from kubeproof.quantify.clusters.options import ClusterOptions
    from kubeproof.quantify.clusters.values import StateValues

    Floats = NDArray[np.float64]

UNITS = {"pods": "pod-hours", "nodes": "node-hours", "energy": "kWh", "cost": "cost"}
SUM = "sum"
HOUR_S = 3600
JOULES_PER_KWH = 3_600_000
MOST_SLICED = MOST_WORK // 10  # two questions are put to a larger process, for every sum
CUT = "an interval that the horizon cuts counts as usual, as there are too many to divide them"


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums over the horizon; `notes` say what about them is not exact."""

    amounts: tuple[Amount, ...] = ()
    notes: tuple[str, ...] = ()


def sums_over(horizon_s: int, chain: Chain, values: StateValues, scenario: Scenario, options: ClusterOptions) -> Sums:
    """All sums that the Scenario gives units for."""
    amounts, notes = [], []
    for name, per_second in rates_of_sums(values, scenario).items():
        span, is_cut = sum_over(horizon_s, chain, per_second, options)
        amounts.append(Amount(name, UNITS[name], span))
        notes += [f"{UNITS[name]}: {CUT}"] if is_cut else []
    return Sums(tuple(amounts), tuple(notes))


def sum_over(horizon_s: int, chain: Chain, per_second: Floats, options: ClusterOptions) -> tuple[Span, bool]:
    """One sum, and whether the horizon cuts intervals of it.

    Intervals in which the cluster takes what it usually takes need no division: the rest of the horizon counts as such.
    """
    usual = _usual(per_second[chain.origin], chain.duration_s)
    slice_s = slice_of(chain, horizon_s)
    slices = slices_of(chain, slice_s, per_second[chain.origin] != usual)
    choices = chain.arrays.choices + int((slices - 1).sum())
    is_cut = work_per_s(choices, slice_s, options) * horizon_s > MOST_SLICED
    if not is_cut:
        chain = slice_chain(chain, slices)
    found = ask(chain, {}, {SUM: per_second[chain.origin] - usual}, options)
    return found.amount(SUM, horizon_s, usual), is_cut


def _usual(values: Floats, duration_s: Floats) -> float:
    """The value of which most intervals, by their lengths, are."""
    known, which = np.unique(values, return_inverse=True)
    return float(known[np.bincount(which.reshape(-1), weights=duration_s).argmax()])


def rates_of_sums(values: StateValues, scenario: Scenario) -> dict[str, Floats]:
    """What every state of the cluster takes per second, in the units of the answers."""
    settings = scenario.quantify
    found = {"pods": values.pods() / HOUR_S, "nodes": values.nodes() / HOUR_S}
    if settings.power:
        found["energy"] = values.watts(settings.power, scenario.events) / JOULES_PER_KWH
    if settings.prices is not None:
        prices = settings.prices
        found["cost"] = found["nodes"] * prices.node_hour + found["pods"] * prices.pod_hour
        if "energy" in found:
            found["cost"] += found["energy"] * prices.kilowatt_hour
    return found
