"""Generated runs are what they say: clean ones obey, faults break what they should, and all can be read back."""

from __future__ import annotations

import pytest

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.monitor.mining.evaluate import by_run, evaluate
from kubeproof.monitor.mining.mine import mine
from kubeproof.monitor.mining.runs import label_events, read_index
from kubeproof.monitor.mining.samples import ORDER, Fault, SampleOptions, record_samples, write_samples
from kubeproof.monitor.mining.traces import traces_of

FEW = SampleOptions(clean=30, faulty=30)
RULES = mine(traces_of(event for run in record_samples(FEW) if run.info.is_clean for event in run.events)).rules


def counts(run):
    return [sum(event.name == step.name for event in run.events) for step in ORDER]


def test_the_same_seed_gives_the_same_runs():
    assert record_samples(FEW) == record_samples(FEW)
    assert record_samples(FEW) != record_samples(SampleOptions(clean=30, faulty=30, seed=2))


def test_clean_orders_are_complete_and_in_order():
    for run in record_samples(SampleOptions(clean=10, faulty=0)):
        assert len(set(counts(run))) == 1
        assert list(run.events) == sorted(run.events)
        assert (run.fault, run.info.is_clean) == ("", True)


@pytest.mark.parametrize(
    ("fault", "breaks"),
    [
        (Fault.OMISSION, lambda found: found[0] > found[-1]),
        (Fault.DELAY, lambda found: len(set(found)) == 1),
        (Fault.DUPLICATION, lambda found: found[0] < found[-1]),
        (Fault.DISORDER, lambda found: found[0] > found[-1]),
        (Fault.CRASH, lambda found: found[0] > found[-1]),
    ],
)
def test_a_fault_breaks_what_it_says_and_is_found(fault, breaks):
    runs = record_samples(SampleOptions(clean=0, faulty=20, faults=(fault,)))
    failed = [run for run in runs if run.info.is_failure]

    assert 5 <= len(failed) < 20
    assert all(breaks(counts(run)) for run in failed)
    scores = evaluate(RULES, [run.info for run in runs], {run.info.name: run.events for run in runs})
    assert scores.recall >= 0.8  # an order that is sent twice right before another one looks like two
    assert scores.false_alarms == 0


def test_what_is_written_is_read_back(tmp_path):
    runs = record_samples(SampleOptions(clean=3, faulty=5))
    write_samples(runs, str(tmp_path / "new"))

    assert read_index(str(tmp_path / "new")) == {run.info.name: run.info for run in runs}
    events = by_run(label_events([str(tmp_path / "new")]))
    assert {name: tuple(found) for name, found in events.items()} == {run.info.name: run.events for run in runs}


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")

    with pytest.raises(UsageError, match="is not empty"):
        write_samples([], str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="cannot write"):
        write_samples([], str(tmp_path / "mine.txt"))
