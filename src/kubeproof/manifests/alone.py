"""One object read by itself, to learn what of it is read."""

from __future__ import annotations

from kubeproof.manifests.objects import Document, Objects, read_object
from kubeproof.manifests.settings.ignores import ignores_of


def read_alone(document: Document) -> None:
    """Reads an object as part of an input; what was read is noted in the document."""
    list(ignores_of(document))
    read_object(document, Objects())
