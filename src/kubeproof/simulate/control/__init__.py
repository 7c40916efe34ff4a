"""The controllers of a cluster on a clock: one run of the model that `verify` explores."""
