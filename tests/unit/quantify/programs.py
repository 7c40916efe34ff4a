"""Small programs for the tests, and where the published ones are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.quantify.storm import is_available

HERE = Path(__file__).resolve()
_SHARED = [folder / "shared" / "data" / "mdp-autoscaling" for folder in HERE.parents[4:6]]  # beside the checkout
SHARED = next((folder for folder in _SHARED if folder.exists()), _SHARED[0])
needs_storm = pytest.mark.skipif(not is_available(), reason="Storm has no wheel for this platform: pip install stormpy")

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
