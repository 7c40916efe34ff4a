import pytest

from kubeproof.engine.stopped import ALL_VIOLATED, INTERNAL, INTERRUPTED, OUT_OF_MEMORY, StoppedBy, StopReason


@pytest.mark.parametrize(
    ("stopped_by", "said", "is_cut_short"),
    [
        (INTERRUPTED, "interrupt", True),
        (ALL_VIOLATED, "all checks are violated", False),
        (INTERNAL, "an internal error", False),
        (OUT_OF_MEMORY, "memory", True),
        (StoppedBy(StopReason.MEMORY, 3 * 2**20 + 1), "3 MiB of memory", True),
        (StoppedBy(StopReason.TIME, 60.0), "60 s", True),
        (StoppedBy(StopReason.STATES, 10), "10 states", False),
        (StoppedBy(StopReason.TOO_MANY_WAYS, problem="more than {2} ways"), "more than {2} ways", False),
    ],
)
def test_each_reason_has_its_words_and_says_whether_another_run_may_come_further(stopped_by, said, is_cut_short):
    assert (str(stopped_by), stopped_by.is_cut_short) == (said, is_cut_short)
