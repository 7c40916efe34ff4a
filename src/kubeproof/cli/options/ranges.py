"""Ranges of numbers that options take."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """As click's own, which lets "nan" pass: it is not outside of any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, if it is one."""
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return found
