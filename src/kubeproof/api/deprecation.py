"""Names that will go, and how that is told: at least two minor releases before they do."""

from __future__ import annotations

import warnings

from kubeproof.named_tuples import NamedTuple


class Deprecated(NamedTuple):
    """A public name that has another one now."""

    instead: str  # the name of `kubeproof` that does the same
    since: str  # "0.2"
    gone_in: str  # "0.4"


def warn(name: str, deprecated: Deprecated, *, stacklevel: int = 3) -> None:
    """Tells whoever uses the name, once for each place, what to write instead and until when the old one works."""
    since, gone_in = deprecated.since, deprecated.gone_in
    message = f"kubeproof.{name} is deprecated since {since} and gone in {gone_in}: use kubeproof.{deprecated.instead}"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
