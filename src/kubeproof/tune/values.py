"""Values that a knob may take, as people write them: 40,50,60 or 40..90:10."""

from __future__ import annotations

import re

from kubeproof.cluster.api.quantity import QuantityError, milli, units
from kubeproof.errors import UsageError
from kubeproof.manifests.yaml.durations import parse_seconds
from kubeproof.named_tuples import NamedTuple

MOST_VALUES = 200
_RANGE = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})(?::([0-9]{1,9}))?", re.ASCII)


class Asked(NamedTuple):
    """A key with values, as it was asked for."""

    key: str
    values: tuple[str, ...]


def parse_asked(text: str) -> Asked:
    """`hpa.targetCPU=40..90:10`."""
    key, equals, written = text.partition("=")
    values = tuple(value for part in written.split(",") for value in _expand(part.strip(), text))
    if not equals or not key.strip() or not values:
        raise UsageError(f"--set {text!r} has no values", "Write --set hpa.targetCPU=40..90:10 or --set nodes=2,3,4.")
    return Asked(key.strip(), tuple(dict.fromkeys(values)))


def _expand(part: str, text: str) -> list[str]:
    found = _RANGE.fullmatch(part)
    if found is None:
        return [part] if part else []
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if first > last or not step or (last - first) // step >= MOST_VALUES:
        raise UsageError(
            f"--set {text!r}: {part} is no range of at most {MOST_VALUES} values", "Write FIRST..LAST:STEP."
        )
    return [str(number) for number in range(first, last + 1, step)]


def read_whole(key: str, text: str, least: int, most: int = 1_000_000) -> int:
    """A whole number."""
    if not text.isascii() or not text.isdecimal() or not least <= int(text[:12]) <= most:
        raise UsageError(f"--set {key}={text} is not a whole number from {least} to {most}", "Correct the value.")
    return int(text)


def read_window(key: str, text: str) -> int:
    """Seconds, at most an hour, as the API has it."""
    seconds = int(text[:9]) if text.isascii() and text.isdecimal() else parse_seconds(text)
    if seconds is None or not 0 <= seconds <= 3600:
        raise UsageError(f"--set {key}={text} is not a duration up to 1h", "Write a value such as 120s.")
    return seconds


def read_amount(key: str, text: str, resource: str) -> int:
    """Thousandths of a CPU, or bytes; above zero."""
    try:
        amount = (milli if resource == "cpu" else units)(text)
    except (QuantityError, ValueError):
        amount = 0
    if amount <= 0:
        raise UsageError(f"--set {key}={text} is not an amount above zero", "Write a value such as 250m or 256Mi.")
    return amount
