"""NumPy, loaded when requests are simulated: it comes with the extra `simulate`."""

from __future__ import annotations

from functools import cache
from typing import Any

from kubeproof.errors import EnvironmentProblem


@cache
def numpy() -> Any:
    """The module; a missing one is an environment problem with the remedy."""
    try:
        import numpy as module
    except ImportError:
        raise EnvironmentProblem(
            "E401 NumPy is not installed; requests cannot be simulated. Install it: pip install 'kubeproof[simulate]'"
        ) from None
    return module
