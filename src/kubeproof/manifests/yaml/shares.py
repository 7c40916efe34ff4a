"""Fractions such as 0.5, kept exactly in thousandths."""

from __future__ import annotations

from kubeproof.cluster.api.quantity import QuantityError, parse_quantity
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable


def read_permille(fields: Fields, key: str, default: int, *, most: int | None = None) -> int:
    """The number under a key in whole thousandths, at most `most` of them."""
    text = fields.number(key)
    if text is None:
        return default
    try:
        permille = parse_quantity(text) * 1000
    except QuantityError:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a number such as 0.1")
    if permille < 0 or permille.denominator != 1:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write at most three decimals, not negative")
    if most is not None and permille > most:
        fields.fail(key, f"is {printable(text)!r}", remedy=f"Write a number up to {most / 1000:g}")
    return int(permille)
