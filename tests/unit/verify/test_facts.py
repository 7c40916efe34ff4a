import copy
import pickle

import pytest

from kubeproof.verify.facts import Fact
from tests.unit.verify.inputs import PENDING, only, verified

REFUSED = Fact("n1: NodePorts: taken (80)", "Deployment/shop/web", "n1", "NodePorts: taken")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_fact_knows_its_parts(again):
    made = again(REFUSED)

    assert (made, made.about, made.node, made.shape) == (REFUSED, REFUSED.about, REFUSED.node, REFUSED.shape)


def test_the_end_of_a_run_knows_who_waits_and_which_node_refuses_why():
    facts = only(verified(*PENDING)).trace.final

    assert [(fact.about, fact.node, fact.shape) for fact in facts] == [
        ("", "", "desired, ready, without a node"),
        ("Deployment/shop/web", "", "without a node"),
        ("", "n1", "NodeResourcesFit: Insufficient cpu"),
    ]
    assert facts[-1].startswith("n1: NodeResourcesFit: Insufficient cpu")
