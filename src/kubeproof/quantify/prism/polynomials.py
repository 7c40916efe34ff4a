"""Fractions of polynomials over boxes: between which numbers they lie, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from kubeproof.quantify.bounds import number_of
from kubeproof.values import dataclass

Span = tuple[Fraction, Fraction]
Powers = tuple[tuple[str, int], ...]  # of parameters


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients by powers of parameters."""

    terms: tuple[tuple[Powers, Fraction], ...]

    def within(self, box: Mapping[str, Span]) -> Span:
        """Two numbers between which all its values over a box lie; the smaller the box, the nearer."""
        low = high = Fraction(0)
        for powers, factor in self.terms:
            span = (factor, factor)
            for name, power in powers:
                span = _multiply(span, _raise(box[name], power))
            low, high = low + span[0], high + span[1]
        return low, high

    def minus(self, factor: Fraction, other: Polynomial) -> Polynomial:
        """This one less so many times another."""
        found = dict(self.terms)
        for powers, coefficient in other.terms:
            found[powers] = found.get(powers, Fraction(0)) - factor * coefficient
        return Polynomial(tuple((powers, value) for powers, value in sorted(found.items()) if value))


def read_polynomial(polynomial: Any) -> Polynomial:
    """One of Storm."""
    found: dict[Powers, Fraction] = {}
    for term in polynomial:
        powers = tuple(sorted((variable.name, int(power)) for variable, power in term.monomial or ()))
        found[powers] = found.get(powers, Fraction(0)) + Fraction(number_of(term.coeff))
    return Polynomial(tuple(sorted(found.items())))


def _multiply(one: Span, other: Span) -> Span:
    products = [a * b for a in one for b in other]
    return min(products), max(products)


def _raise(span: Span, power: int) -> Span:
    ends = (span[0] ** power, span[1] ** power)
    least = Fraction(0) if power % 2 == 0 and span[0] < 0 < span[1] else min(ends)
    return least, max(ends)
