"""A histogram of response times, made in one step."""

from collections.abc import Iterable

from kubeproof.simulate.serving.times import Histogram, bucket_of


def histogram_of(times_s: Iterable[float]) -> Histogram:
    """The histogram of some times."""
    times = list(times_s)
    counts: dict[int, int] = {}
    for time_s in times:
        bucket = bucket_of(time_s)
        counts[bucket] = counts.get(bucket, 0) + 1
    least, most = (min(times), max(times)) if times else (0.0, 0.0)
    return Histogram(tuple(sorted(counts.items())), len(times), sum(times), least, most)
