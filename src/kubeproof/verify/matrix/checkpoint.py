"""The journal of a matrix: which cells are graded, so that a run that was broken off goes on."""

from __future__ import annotations

from pathlib import Path

from kubeproof.engine.stopped import is_cut_short
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal
from kubeproof.verify.journal.verification import RESULT_CLASSES, binding_for
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.result import Cell, Grade
from kubeproof.verify.matrix.solve import Graded
from kubeproof.verify.options import VerifyOptions

CODEC = Codec(Graded, Cell, Grade, *RESULT_CLASSES)


def matrix_journal(
    directory: str, loaded: Loaded, options: VerifyOptions, chosen: MatrixOptions, *, resume: bool
) -> Journal:
    """A journal that belongs to this input and these options.

    Cells that a limit of time or memory left open are not written down: a resumed run may have more of them.
    """
    binding = binding_for(loaded, options, {"faults": ",".join(chosen.faults)}, ())
    return Journal(Path(directory), binding, CODEC, resume=resume, is_final=_is_final)


def _is_final(graded: Graded) -> bool:
    return not is_cut_short(graded.statistics.stopped_by)
