"""A Dask cluster on loopback that lives as long as its standard input: prints its address."""

import sys

import dask
from distributed import LocalCluster

from tests.unit.verify.executors.work import PATIENCE_S


def main() -> None:
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    dask.config.set({"distributed.comm.timeouts.connect": f"{PATIENCE_S}s"})
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
        death_timeout=PATIENCE_S,  # of a worker that has not found its scheduler yet
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
