"""Scaling out: the stream is split over partitions in Redis, and any number of processes judge them."""
