"""Small programs for the tests, and where the published ones are.

Looked for in the folder that KUBEPROOF_DATA names, otherwise beside the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubeproof.quantify.storm import is_available

_NAMED = os.environ.get("KUBEPROOF_DATA")
_PLACES = [Path(_NAMED)] if _NAMED else [above / "shared" / "data" for above in Path(__file__).resolve().parents]
DATA = next((place for place in _PLACES if place.is_dir()), _PLACES[0]) / "mdp-autoscaling"
needs_storm = pytest.mark.skipif(not is_available(), reason="Storm has no wheel for this platform: pip install stormpy")


def run_apart(*words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: with limits it forks, which a test runner's threads would not survive."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = "import sys; from kubeproof.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", script, "quantify", *words], capture_output=True, text=True, check=False, env=environment
    )


COIN = """mdp
const double p;
module coin
  s : [0..4] init 0;
  [fair] s=0 -> p:(s'=1) + (1-p):(s'=2);
  [sure] s=0 -> 0.3:(s'=0) + 0.7:(s'=3);
  [sure] s=1 -> 0.5:(s'=3) + 0.5:(s'=0);
  [stay] s>1 & s<4 -> 1/3:(s'=s) + 2/3:(s'=4);
  [end] s=4 -> true;
endmodule
label "done" = s=3;
rewards "cost" s<3 : 1; [sure] true : 2; endrewards
"""
