"""What to say of an object before it is stored: what may get stuck if it is applied to what runs."""

from __future__ import annotations

from kubeproof.errors import UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.what_if.answer import Answer, Effect
from kubeproof.verify.what_if.questions import ask_apply
from kubeproof.verify.what_if.run import answer_question


def judge_object(
    running: Loaded, new: Loaded, name: str, options: VerifyOptions, stop: Stop | None = None
) -> Answer | None:
    """The answer to applying it; None if it changes no workload."""
    try:
        question = ask_apply(running, new, name)
    except UsageError:
        return None
    return answer_question(question, options, stop=stop, has_ordinary=False)


def list_warnings(answer: Answer | None) -> list[str]:
    """What is proved to go wrong, one warning for each workload; nothing of what is not decided."""
    if answer is None or answer.verdict != Verdict.VIOLATED:
        return []
    return [_warn(one) for one in answer.effects if one.grade == Grade.STUCK]


def _warn(effect: Effect) -> str:
    """What to change, where that is known: API servers hand on 256 letters."""
    return f"kubeproof: {effect.target} may get stuck: {effect.result.remedy or effect.result.detail}"
