"""Facts about single states: counts, places, kinds of workloads, traffic."""
