"""`kubeproof.matrix`: what each workload survives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kubeproof.api.inputs import Nodes, Paths, take_input
from kubeproof.api.shapes import reshape
from kubeproof.api.verification import Verification
from kubeproof.errors import UsageError
from kubeproof.manifests.scenarios.matrix_columns import FAULTS
from kubeproof.stop import Stop
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix import asks_for_matrix
from kubeproof.verify.matrix.options import BUDGET_S, MatrixOptions
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions


def matrix(
    paths: Paths,
    *,
    faults: Sequence[str] = (),
    grade: Literal["dips", "steady"] = "dips",
    pairs: bool = False,
    nodes: Nodes = (),
    timeout_s: float = BUDGET_S,
    options: VerifyOptions = VerifyOptions(),
    values: Sequence[str] = (),
    stop: Stop | None = None,
) -> Verification:
    """Grades every workload under every fault, one at a time; `.matrix` of the result has the cells.

    `faults` are keys such as `"nodeLoss"`, all that apply if there are none. What is worse than `grade` is a
    violation. `pairs` looks at two faults at once, too. The input must not hold a Scenario: that asks for something
    else, and `kubeproof.verify` answers it.
    """
    loaded = take_input(paths, values=values, nodes=nodes)
    if not asks_for_matrix(loaded, options):
        raise UsageError("the input has a Scenario, which says what to look at", "Leave it out, or call verify.")
    known = [fault.key for fault in FAULTS]
    for unknown in [key for key in faults if key not in known]:
        raise UsageError(f"there is no fault {unknown!r}", f"There are {', '.join(known)}.")
    asked = MatrixOptions(faults=tuple(faults), least_grade=Grade(grade), pairs=pairs, executor=InProcess())
    result = run_matrix(loaded, replace(options, timeout_s=timeout_s), asked, stop=stop)
    return reshape(result, Verification)
