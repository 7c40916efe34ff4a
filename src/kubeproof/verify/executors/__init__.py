"""Runs a list of independent tasks in this process, in a pool of processes, or on a Dask cluster."""
