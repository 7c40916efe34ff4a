from kubeproof.report.style import Style
from kubeproof.report.verification.trace import trace_lines
from tests.unit.report.results import SCORES, step

LOOP = (
    step("replicaset", "creates web-1"),
    step("scheduler", "binds web-1", 1),
    step("descheduler", "evicts web-1", 2),
)
LONG = (
    step("deployment", "creates web"),
    *(step("scheduler", f"binds web-{n}", n) for n in range(1, 38)),
    *(step("kubelet", f"starts web-{n}", 40 + n) for n in range(1, 5)),
)


def test_a_loop_is_drawn_as_a_loop():
    assert list(trace_lines(LOOP, 1, Style(), certainty="inevitable")) == [
        "   1      0s  replicaset   creates web-1",
        "┌▶ 2      1s  scheduler    binds web-1",
        "│  3      2s  descheduler  evicts web-1",
        "└─ back to step 2, for ever (inevitable: from here on the cluster can never become stable)",
    ]


def test_a_loop_is_drawn_in_ascii_where_nothing_else_can_be_shown():
    assert list(trace_lines(LOOP, 0, Style(unicode=False), certainty="possible")) == [
        "+> 1      0s  replicaset   creates web-1",
        "|  2      1s  scheduler    binds web-1",
        "|  3      2s  descheduler  evicts web-1",
        "+- back to step 1, for ever (possible: some choice among equals keeps it going)",
    ]


def test_the_margin_of_a_loop_runs_past_the_notes_of_its_steps():
    lines = list(trace_lines(LOOP[1:2], 0, Style(verbose=True)))

    assert lines == [
        "┌▶ 1      1s  scheduler  binds web-1",
        "│             because node-a scores 100",
        "│             because node-b scores 90",
        "└─ back to step 1, for ever",
    ]


def test_reasons_are_always_shown_but_for_the_schedulers_line_per_node():
    steps = (step("scheduler web", "binds web-1", why=SCORES), step("hpa web", "sets 2", 15, why=("usage is 120%",)))

    assert list(trace_lines(steps, None, Style())) == [
        "   1      0s  scheduler web  binds web-1",
        "   2     15s  hpa web        sets 2",
        "              because usage is 120%",
    ]
    assert len(list(trace_lines(steps, None, Style(verbose=True)))) == 2 + 2 + 1


def test_runs_of_one_actor_are_folded_in_long_traces():
    assert list(trace_lines(LONG, None, Style())) == [
        "       1      0s  deployment  creates web",
        "    2-38      1s  scheduler   37 steps: binds web-1 … binds web-37",
        "   39-42     41s  kubelet     4 steps: starts web-1 … starts web-4",
    ]


def test_in_long_traces_other_workloads_than_the_one_in_question_are_told_in_one_line():
    loops = ("deployment", "replicaset", "scheduler")
    steps = tuple(
        step(f"{loop} {name}", f"sees to {name}")
        for name in ("web", "api", "shop/db-0", "web-rev2", *"abcdefghijk")
        for loop in loops
    )

    assert list(trace_lines(steps, None, Style(), about="Deployment/shop/web")) == [
        "       1      0s  deployment web        sees to web",
        "       2      0s  replicaset web        sees to web",
        "       3      0s  scheduler web         sees to web",
        "     4-9      0s  others                6 steps for 2 other workloads: sees to api … sees to shop/db-0",
        "      10      0s  deployment web-rev2   sees to web-rev2",
        "      11      0s  replicaset web-rev2   sees to web-rev2",
        "      12      0s  scheduler web-rev2    sees to web-rev2",
        "   13-45      0s  others                33 steps for 11 other workloads: sees to a … sees to k",
    ]
    assert len(list(trace_lines(steps, None, Style()))) == len(steps)


def test_a_fold_never_crosses_the_start_of_a_loop():
    assert list(trace_lines(LONG, 10, Style(unicode=False))) == [
        "       1      0s  deployment  creates web",
        "    2-10      1s  scheduler   9 steps: binds web-1 ... binds web-9",
        "+> 11-38     10s  scheduler   28 steps: binds web-10 ... binds web-37",
        "|  39-42     41s  kubelet     4 steps: starts web-1 ... starts web-4",
        "+- back to step 11, for ever",
    ]


def test_traces_of_up_to_forty_steps_and_verbose_ones_are_not_folded():
    assert len(list(trace_lines(LONG[:40], None, Style()))) == 40
    assert len(list(trace_lines(LONG, None, Style(verbose=True)))) == 42 + 37 * 2


def test_a_run_of_three_is_shorter_than_its_fold():
    steps = (*LONG[:-1], step("deployment", "reports progress", 50))

    assert len(list(trace_lines(steps, None, Style()))) == 1 + 1 + 3 + 1


def test_an_empty_trace_has_no_lines():
    assert list(trace_lines((), None, Style())) == []


def test_long_sentences_are_wrapped_under_themselves_inside_the_loop():
    steps = (step("scheduler", "binds shop/web-1 to node-a because it is the only one that is left"),)
    lines = [*trace_lines(steps, 0, Style(width=60), certainty="possible")]

    assert lines == [
        "┌▶ 1      0s  scheduler  binds shop/web-1 to node-a because",
        "│                        it is the only one that is left",
        "└─ back to step 1, for ever (possible: some choice among",
        "   equals keeps it going)",
    ]
