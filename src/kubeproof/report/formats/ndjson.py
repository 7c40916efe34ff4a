"""The report as JSON lines: the run, each result, the verdict; for log pipelines and `jq`."""

from __future__ import annotations

import json

from kubeproof.report.formats.json import VERSION, document
from kubeproof.report.frame import Frame
from kubeproof.verify.result import VerifyResult


def render(result: VerifyResult, frame: Frame) -> str:
    """The same values as the JSON report, one object a line; its input is left out."""
    whole = document(result)
    results = whole["results"]
    assert isinstance(results, list)
    head = {key: whole[key] for key in ("scenario", "scope", "not_modelled")}
    tail = {key: whole[key] for key in ("verdict", "suppressions", "statistics", "elapsed_s")}
    tail |= {key: value for key, value in whole.items() if key.startswith("matrix")}
    lines = [
        {"type": "run", "version": VERSION, **head},
        *({"type": "result", **one} for one in results),
        {"type": "verdict", **tail},
    ]
    return "".join(
        json.dumps(line, ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f") + "\n" for line in lines
    )
