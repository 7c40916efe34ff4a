"""Sweeps: the smallest violation, honest verdicts, the same from every executor."""

from itertools import takewhile

import pytest

from kubeproof.cluster.scale import Limit
from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.manifests.load import load_texts
from kubeproof.verify.executors.pool import Pool
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size import derive
from kubeproof.verify.resize import resize
from kubeproof.verify.run import verify
from kubeproof.verify.scaling.checkpoint import CODEC, sweep_journal
from kubeproof.verify.scaling.esc import Esc, Minimum, esc_of
from kubeproof.verify.scaling.fast_find import thin
from kubeproof.verify.scaling.heatmap import HeatCell, heat_map
from kubeproof.verify.scaling.plan import SweepOptions, is_swept, plan_sweep
from kubeproof.verify.scaling.setups import all_sizes, why_trivial
from kubeproof.verify.scaling.sweep import run_sweep, verify_size
from tests.unit.verify.scaling.inputs import ONLY_FAST, grows

PAPER = [("C1", 1, 3), ("C2", 1, 2), ("C3", 3, 6), ("C4", 2, 5), ("C5", 2, 4), ("C6", 2, 2), ("C7", 1, 1), ("C8", 3, 6)]


EVERY_SIZE = VerifyOptions(without=("abstraction",))  # without proofs for any size each of them is looked at


def swept(loaded, options=VerifyOptions(), **chosen):
    choice = SweepOptions(**chosen)
    return run_sweep(plan_sweep(loaded, options, choice), choice)


def by_brute_force(loaded):
    """The verdict of every size that is not trivial, one by one."""
    scale = loaded.scenario.scale
    inputs = [(size, resize(loaded, scale, size)) for size in all_sizes(scale, None, loaded.setup)]
    return [(size, verify(sized).verdict) for size, sized in inputs if not why_trivial(sized)]


def test_all_sizes_hold_within_the_bound():
    result = swept(grows(), EVERY_SIZE)

    assert result.verdict == "HOLDS-BOUNDED"
    assert [one.verdict for one in result.results] == ["HOLDS-BOUNDED"]
    assert [one.holds_for for one in result.results] == [None]
    assert dict(result.scope)["sizes"] == "20: 18 verified, 2 trivial"
    assert dict(result.scope)["bound"] == "0 to 2 x fast, 0 to 1 x slow, 1 to 4 pods of Deployment/shop/web"


def test_a_sweep_of_what_is_proved_for_any_size_looks_at_the_smallest_sizes_alone():
    result = swept(grows())
    (one,) = result.results

    assert (result.verdict, one.verdict) == ("HOLDS", "HOLDS")
    assert dict(result.scope)["sizes"] == "20: 4 verified, 2 trivial, 14 proved for any size"
    assert one.holds_for.admits({"fast": 400, "slow": 1}, 1203)
    assert not one.holds_for.admits({"fast": 400, "slow": 1}, 1204)
    assert "replicas <= 3 x nodes" in one.detail


def test_sizes_that_no_proof_is_about_are_looked_at():
    result = swept(grows(more=ONLY_FAST), every=True)

    found = {line.size.nodes: line.verdict for line in result.sweep.sizes if dict(line.size.pods).popitem()[1] == 1}
    assert (result.verdict, found[("fast", 0), ("slow", 1)]) == ("VIOLATED", "VIOLATED")
    assert found[("fast", 2), ("slow", 1)] == "HOLDS"


AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 4
---"""


def test_the_scope_says_what_becomes_of_the_bounds_of_autoscalers():
    result = swept(grows(objects=AUTOSCALER, fast=1, slow=1, pods=2))

    assert dict(result.scope)["autoscalers"] == (
        "shop/web: Deployment/shop/web 2 to 4, bounds follow keeping their distance from the replicas: "
        "1 to 3 at the last size tried"
    )


def test_the_first_violation_is_the_smallest_and_ends_the_sweep():
    result = swept(grows(more=ONLY_FAST))

    assert (result.verdict, result.sweep.count("VIOLATED"), result.sweep.count("NOT-TRIED")) == ("VIOLATED", 1, 19)
    (one,) = result.results
    assert one.size == (("fast", 0), ("slow", 1), ("Deployment/shop/web", 1))
    assert one.trace is not None
    assert one.detail.endswith("; no smaller size fails")


@pytest.mark.parametrize("more", [ONLY_FAST, "terminationGracePeriodSeconds: 30", "nodeName: fast"])
def test_the_first_violation_is_that_of_trying_all(more):
    loaded = grows(more=more, fast=2, slow=1, pods=3)

    result = swept(loaded)

    expected = by_brute_force(loaded)
    first = next((size for size, verdict in expected if verdict == "VIOLATED"), None)
    found = next((line.size for line in result.sweep.sizes if line.verdict == "VIOLATED"), None)
    assert found == first
    tried = [line.size for line in result.sweep.sizes if line.verdict == "HOLDS"]
    assert tried == [size for size, _ in takewhile(lambda pair: pair[1] != "VIOLATED", expected)]


def test_every_size_has_its_verdict_with_all():
    loaded = grows(more=ONLY_FAST)

    result = swept(loaded, every=True)

    judged = [(line.size, line.verdict) for line in result.sweep.sizes if line.verdict != "TRIVIAL"]
    assert judged == by_brute_force(loaded)
    assert result.sweep.count("NOT-TRIED") == 0
    assert result.results[0].size == (("fast", 0), ("slow", 1), ("Deployment/shop/web", 1))


def test_an_undecided_size_is_never_one_that_holds():
    result = swept(grows(), VerifyOptions(max_states=5, without=("abstraction",)))

    assert result.verdict == "UNKNOWN"
    assert result.sweep.count("UNKNOWN") > 0
    assert result.sweep.count("HOLDS") == 0


def test_a_size_that_fails_to_answer_is_an_error_and_the_rest_goes_on(monkeypatch):
    def broken(loaded, options):
        if len(loaded.setup.nodes) == 2:
            raise KeyError("no wind")
        return verify(loaded, options)

    monkeypatch.setattr("kubeproof.verify.scaling.sweep.verify_intents", broken)

    result = swept(grows(), EVERY_SIZE)

    assert result.verdict == "ERROR"
    assert "no wind" in result.results[0].detail
    assert (result.sweep.count("ERROR"), result.sweep.count("HOLDS")) == (8, 10)


def test_a_violation_after_an_undecided_size_does_not_claim_to_be_the_smallest(monkeypatch):
    def broken(loaded, options):
        if len(loaded.setup.nodes) == 1:
            raise KeyError("no wind")
        return verify(loaded, options)

    monkeypatch.setattr("kubeproof.verify.scaling.sweep.verify_intents", broken)

    result = swept(grows(more=ONLY_FAST, pods=4))

    assert result.verdict == "VIOLATED"
    assert result.results[0].detail.endswith("; 6 smaller sizes are undecided")


def test_all_trivial_is_nothing_to_check():
    with pytest.raises(NothingToCheckError, match=r"every size of spec\.scale is trivial"):
        swept(grows(more="nodeName: elsewhere"))


def test_a_limit_that_leaves_no_size_is_nothing_to_check():
    loaded = grows(replicas=3)
    scale = loaded.scenario.scale
    assert scale is not None

    with pytest.raises(NothingToCheckError, match="leaves no size within its limit"):
        plan_sweep(
            load_texts([(name, text.replace("{min: 0, max: 4}", "{min: 9, max: 9}")) for name, text in loaded.texts]),
            VerifyOptions(),
            SweepOptions(limit=Limit(1, 1)),
        )


def test_a_sweep_needs_a_scale():
    texts = [(name, text.partition("  scale:")[0]) for name, text in grows().texts]

    with pytest.raises(UsageError, match=r"the Scenario has no spec\.scale"):
        plan_sweep(load_texts(texts), VerifyOptions())


@pytest.mark.parametrize(
    ("written", "asked", "expected"),
    [
        ("", None, True),
        ("limit: none", None, False),
        ("limit: none", "esc", True),
        ("limit: esc", "none", False),
        ("limit: esc", None, True),
    ],
)
def test_the_actual_size_is_verified_without_a_limit(written, asked, expected):
    assert is_swept(grows(limit=written), SweepOptions(limit=asked)) is expected


def test_the_esc_and_its_basis_are_told():
    esc = Esc(2, 2, (Minimum("ours", 1, 1),))
    choice = SweepOptions(limit="esc")

    result = run_sweep(plan_sweep(grows(), VerifyOptions(), choice, esc), choice)

    assert result.sweep.esc == esc
    assert dict(result.scope)["ESC"].endswith("smallest clusters that fail (nodes and pods: ours 1 and 1)")


def test_the_esc_of_the_paper_is_six_and_six():
    esc = esc_of([Minimum(*one) for one in PAPER])

    assert (esc.nodes, esc.pods_per_node) == (6, 6)


@pytest.mark.parametrize(("pods", "nodes", "expected"), [(5, 2, 5), (4, 3, 3), (1, 1, 2), (7, 3, 5)])
def test_twice_the_pods_per_node_are_rounded_up(pods, nodes, expected):
    assert esc_of([Minimum("one", nodes, pods)]).pods_per_node == expected


def test_fast_find_takes_doubling_steps_and_the_ends():
    loaded = grows(fast=1, slow=1, pods=36)
    sizes = [size for size in all_sizes(loaded.scenario.scale, None, loaded.setup) if size.node_total == 2]

    assert [size.pod_total for size in thin(sizes)] == [1, 3, 7, 15, 31, 36]
    assert thin(()) == ()


@pytest.mark.parametrize("more", [ONLY_FAST, "terminationGracePeriodSeconds: 30"])
def test_fast_find_finds_a_violation_if_one_of_its_sizes_has_one(more):
    loaded = grows(more=more)
    visited = thin(all_sizes(loaded.scenario.scale, None, loaded.setup))

    result = swept(loaded, fast_find=True)

    has_one = any(verdict == "VIOLATED" for size, verdict in by_brute_force(loaded) if size in visited)
    assert (result.verdict == "VIOLATED") is has_one
    assert result.verdict in ("VIOLATED", "SAMPLED-OK")
    assert tuple(line.size for line in result.sweep.sizes) == visited


def test_a_pool_gives_the_same_result():
    loaded = grows(more=ONLY_FAST)

    def told(result):
        return [(line.size, line.verdict, line.states) for line in result.sweep.sizes], result.results[0].trace

    assert told(swept(loaded, executor=Pool(2))) == told(swept(loaded))


def test_a_resumed_sweep_gives_the_same_result(tmp_path):
    choice = SweepOptions(every=True)
    plan = plan_sweep(grows(more=ONLY_FAST), EVERY_SIZE, choice)
    with sweep_journal(str(tmp_path), plan, choice, resume=False) as journal:
        first = run_sweep(plan, choice, journal=journal)

    with sweep_journal(str(tmp_path), plan, choice, resume=True) as journal:
        assert len(journal.read_known()) == 20
        assert run_sweep(plan, choice, journal=journal) == first


def test_an_answer_survives_the_journal():
    loaded = grows(more=ONLY_FAST)
    plan = plan_sweep(loaded, VerifyOptions())

    answer = verify_size(loaded, plan.scale, plan.options, plan.sizes[0])

    assert answer.verdict == "VIOLATED"
    assert CODEC.decode(CODEC.encode(answer)) == answer


def test_progress_tells_how_far_it_is_and_the_smallest_violation():
    choice = SweepOptions(every=True)
    plan = plan_sweep(grows(more=ONLY_FAST), EVERY_SIZE, choice)
    told = []

    run_sweep(plan, choice, progress=told.append)

    assert [(one.done, one.total) for one in told] == [(done, 20) for done in range(21)]
    assert told[0].best is None
    assert {one.best for one in told[1:]} == {plan.sizes[0]}
    assert told[-1].states > told[1].states > 0


def test_the_heat_map_shows_the_worst_of_each_scale():
    chart = heat_map(swept(grows(more=ONLY_FAST, fast=1, slow=1, pods=4), every=True).sweep)

    assert chart.cells == (
        HeatCell(1, 1, "VIOLATED", 2, 1, 1),
        HeatCell(1, 2, "VIOLATED", 2, 1, 2),
        HeatCell(1, 3, "VIOLATED", 2, 1, 3),
        HeatCell(1, 4, "TRIVIAL", 2, 0, 4),
        HeatCell(2, 1, "HOLDS", 1, 0, 1),
        HeatCell(2, 2, "HOLDS", 1, 0, 2),
        HeatCell(2, 3, "HOLDS", 1, 0, 3),
        HeatCell(2, 4, "VIOLATED", 1, 1, 4),
    )


def test_neighbouring_rows_share_a_cell_where_there_are_too_many():
    chart = heat_map(swept(grows(more=ONLY_FAST, fast=1, slow=1, pods=4), every=True).sweep, most_rows=2)

    assert [(cell.nodes, cell.range, cell.verdict) for cell in chart.cells] == [
        (1, "1-2", "VIOLATED"),
        (1, "3-4", "VIOLATED"),
        (2, "1-2", "HOLDS"),
        (2, "3-4", "VIOLATED"),
    ]


def test_a_sweep_that_ends_at_its_first_sizes_argues_about_no_others(monkeypatch):
    def refuse(*_):
        raise AssertionError("somebody asks for a proof")

    monkeypatch.setattr(derive, "find_family", refuse)

    result = swept(grows(more=ONLY_FAST))

    assert result.verdict == "VIOLATED"
    with pytest.raises(AssertionError, match="asks for a proof"):
        swept(grows())
