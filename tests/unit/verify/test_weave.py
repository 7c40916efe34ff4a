"""Runs of a part become runs of the whole: what the others do meanwhile is chosen."""

from __future__ import annotations

import pytest

from kubeproof.model.by_name.remembering import RememberingModel
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.projection import Projection
from kubeproof.verify.counterexamples.weave import CannotWeave, Weaver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.slices import run_either_way
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, scenario, web

OTHER = web(replicas=1).replace("web", "other")


@pytest.mark.parametrize(("is_last_first", "name"), [(False, "n1"), (True, "n3")])
def test_others_choose_the_first_or_the_last_of_equal_nodes(is_last_first: bool, name: str) -> None:
    asked = scenario("{schedulable: {target: Deployment/shop/web}}")
    whole = loaded(node("n1"), node("n2"), node("n3"), web(replicas=1), OTHER, asked)
    part = next(one for one in cut_by_relations(whole) if one.workloads == ("Deployment/shop/web",))
    plan, own = plan_of(whole, VerifyOptions()), plan_of(part.loaded, VerifyOptions())
    model = RememberingModel(plan)
    (start,) = model.initial()
    shares = Projection(plan, own, part.intents)
    weaver = Weaver(model, RepresentativeModel(own), shares, start, is_last_first=is_last_first)

    weaver.catch_up()

    last = weaver.path().last
    assert [one.name for one, state in zip(whole.setup.nodes, last.nodes, strict=True) if state.pods] == [name]


def test_a_run_in_which_others_are_in_the_way_is_tried_the_other_way() -> None:
    asked: list[bool] = []

    path = NamedPath((), ())

    def run(*, is_last_first: bool) -> NamedPath:
        asked.append(is_last_first)
        if not is_last_first:
            raise CannotWeave("a node is taken")
        return path

    assert run_either_way(run) is path
    assert asked == [False, True]
