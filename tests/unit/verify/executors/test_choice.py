"""The words of --executor and --workers."""

import pytest

from kubeproof.errors import UsageError
from kubeproof.verify.executors.choice import parse_executor
from kubeproof.verify.executors.dask_cluster import Dask
from kubeproof.verify.executors.gradual import Gradual
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.pool import Pool, usable_cores


@pytest.mark.parametrize(
    ("text", "workers", "executor"),
    [
        ("inprocess", None, InProcess()),
        ("inprocess", 1, InProcess()),
        ("auto", None, Gradual()),
        ("auto", 1, InProcess()),
        ("auto", 3, Gradual(3)),
        ("pool", None, Pool()),
        ("pool", 3, Pool(3)),
        ("pool:4", None, Pool(4)),
        ("pool:4", 4, Pool(4)),
        ("dask://sweeps.example:8786", None, Dask("tcp://sweeps.example:8786")),
        ("dask://127.0.0.1:1", None, Dask("tcp://127.0.0.1:1")),
        ("dask://[::1]:65535", None, Dask("tcp://[::1]:65535")),
    ],
)
def test_every_form_names_its_executor(text, workers, executor):
    assert parse_executor(text, workers) == executor


@pytest.mark.parametrize(
    "text",
    ["", "Pool", "pool:", "pool:x", "pool:-1", "pool: 2", "dask://", "dask://host", "dask://host:0", "dask://host:65536",
     "dask://host:1/path", "dask://user@host:1", "tcp://host:1", "ray://host:1", "inprocess\n"],
)  # fmt: skip
def test_other_words_are_refused_with_the_forms(text):
    with pytest.raises(
        UsageError, match=r"E202 the executor .* is not known\. Use auto, inprocess, pool, pool:N or dask://"
    ):
        parse_executor(text)


@pytest.mark.parametrize("size", ["0", "1025", "9999"])
def test_a_pool_of_no_or_too_many_workers_is_refused(size):
    with pytest.raises(UsageError, match=f"{size} workers make no pool"):
        parse_executor(f"pool:{size}")
    with pytest.raises(UsageError, match=f"{size} workers make no pool"):
        parse_executor("auto", int(size))


@pytest.mark.parametrize(("text", "workers"), [("inprocess", 2), ("pool:2", 3), ("dask://host:1", 2)])
def test_contradictions_are_refused(text, workers):
    with pytest.raises(UsageError, match=f"--workers {workers} does not go with --executor {text}"):
        parse_executor(text, workers)


def test_a_pool_without_a_number_has_one_worker_per_processor():
    assert Pool().open(print).width == usable_cores() >= 1
