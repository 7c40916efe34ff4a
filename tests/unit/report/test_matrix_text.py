from dataclasses import replace

from kubeproof.cluster.objects import Source
from kubeproof.report.matrix.causes import matrix_findings
from kubeproof.report.matrix.text import first_advice, table_lines
from kubeproof.report.matrix.words import short_names, span, when_of, word
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import ending_lines
from kubeproof.report.verification.causes import belongs_to, findings
from kubeproof.report.verification.text import render
from kubeproof.verify.facts import Fact
from kubeproof.verify.matrix.result import Cell, Column, Grade, Matrix
from kubeproof.verify.result import CheckFinding
from tests.unit.report.results import MATRIX_RESULT, PROOF, RESULT, TRACE, VIOLATION, matrix_row

EXPECTED = """\
Read     3 workloads in 1 file, Kubernetes 1.37
Nodes    assumed: 3 nodes of 4 CPU

What each workload survives, one fault at a time
                rollout node  pod
           pods         lost  crash
  api         1 ok      STUCK 0 6m
  cart        1 ok      STUCK 0 6m
  web         1 ok      ?     0 6m
  ok never below its minimum | 0 40s down to 0 ready, up to 40 s in runs explored | STUCK may never
  recover | ? not decided

STUCK  api, cart (node lost)
  What to change: Give it another node. The same for cart.
  A run of api (a node fails and stays down; 4 steps)
     1      0s                  deployed: 4 pods on 3 nodes
     2     20s  event nodeLoss  node node-of-api fails for good
     4     70s                  1 step of others
     5     70s  replicaset api  creates pod api-2
  In the end
    Deployment/shop/api: desired 1, ready 0, not ready 0, without a node 1
    1 pod(s) of Deployment/shop/api without a node: api-2
    node-y, node-z: InterPodAffinity: node(s) didn't match pod anti-affinity rules

DIPS   all 3 workloads: no pod ready (pod crash: up to 6m)
  What to change: Run two. The same for cart, web.

?      web (node lost): about Deployment/shop/web

Two faults at once: 7 not looked at (--timeout gives more time)

Not modelled (1, -v lists them)
  objects: Service (1)

First: api: Give it another node. The same for cart.
VIOLATED: 3 workloads under 3 faults: 3 steady, 3 dip and recover, 2 STUCK, 1 not known; on assumed nodes
"""


def large(workloads: int, faults: int) -> Matrix:
    """A matrix in which no two workloads fare alike."""
    columns = tuple(Column(f"fault{n}", f"fault no{n}", f"fault {n} happens") for n in range(faults))
    rows = tuple(matrix_row(f"recommendation-service-{'x' * n}") for n in range(workloads))
    cells = tuple(
        Cell(row.target, (column.key,), Grade.DIPS, "told", 0, 10 + number)
        for number, row in enumerate(rows)
        for column in columns
    )
    return Matrix(columns, rows, cells)


def test_the_report_of_a_matrix_has_table_causes_and_what_to_do_first():
    assert render(MATRIX_RESULT, Style(width=100)) == EXPECTED


def test_eleven_workloads_under_ten_faults_fit_a_screen():
    lines = [*table_lines(large(11, 10), Style(width=100))]

    assert max(map(len, lines)) <= 100
    assert len(lines) <= 16


def test_many_workloads_that_differ_in_times_only_are_one_row_with_the_longest():
    lines = [*table_lines(large(13, 2), Style(width=100))]

    assert lines[2] == "  13 workloads    1 0 22s 0 22s"
    assert "\n".join(lines[3:-1]).endswith(" and 5 more")


def test_what_no_api_server_takes_comes_first():
    wrong = CheckFinding("K001", "unknown-field", "error", "Pod/a", "no field spec.x", "Remove it", Source("a.yaml", 3))

    told = first_advice(replace(MATRIX_RESULT, checks=(wrong,)), MATRIX_RESULT.matrix)
    assert told == "Pod/a: no field spec.x. Remove it (a.yaml:3)"
    assert first_advice(MATRIX_RESULT, MATRIX_RESULT.matrix).startswith("api: Give")


def test_workloads_that_fare_alike_are_one_row_with_their_names_below():
    matrix = MATRIX_RESULT.matrix
    alike = replace(matrix, cells=tuple(cell for cell in matrix.cells if cell.faults == ("podCrash",)))

    assert [*table_lines(replace(alike, columns=matrix.columns[2:]), Style())][2:4] == [
        "  3 workloads    1 0 6m",
        "    api, cart, web",
    ]


def test_a_verbose_table_has_a_row_for_each_workload_and_every_step_of_a_run():
    text = render(MATRIX_RESULT, Style(verbose=True))

    assert "of node-z starts pod other-1" in text
    assert "\nStatistics\n" in text
    assert "  web         1 ok      ?     0 6m\n" in text


def test_a_quiet_matrix_has_its_bad_cells_only():
    assert render(MATRIX_RESULT, Style(quiet=True)).splitlines()[:2] == [
        "stuck Deployment/shop/api nodeLoss",
        "dips Deployment/shop/api podCrash",
    ]


def test_cells_with_one_cause_are_one_finding_whatever_the_names():
    found = matrix_findings(MATRIX_RESULT, MATRIX_RESULT.matrix)

    assert [(one.grade, len(one.cells)) for one in found] == [(Grade.STUCK, 2), (Grade.DIPS, 3)]


def test_a_pair_of_faults_is_a_finding_only_if_it_is_worse_than_each_alone():
    matrix = MATRIX_RESULT.matrix
    stuck = next(cell for cell in matrix.cells if cell.grade == Grade.STUCK)
    known = replace(stuck, faults=("rollout", "nodeLoss"))
    news = replace(known, target="Deployment/shop/web")

    found = matrix_findings(MATRIX_RESULT, replace(matrix, pairs=(known, news)))

    assert news in found[0].cells
    assert known not in found[0].cells
    assert found[0].example == stuck


def test_what_a_single_pod_is_taken_away_by_makes_no_difference():
    matrix = MATRIX_RESULT.matrix
    dip = next(cell for cell in matrix.cells if cell.grade == Grade.DIPS)
    both = replace(matrix, cells=(dip, replace(dip, faults=("rollout",), longest_s=40, finding=5)))

    (found,) = matrix_findings(MATRIX_RESULT, both)

    assert when_of(both, found.cells) == "(pod crash: up to 6m; rollout: up to 40s)"


def test_a_bare_pod_is_gone_whatever_takes_it_away():
    stuck = next(cell for cell in MATRIX_RESULT.matrix.cells if cell.grade == Grade.STUCK)
    bare = "Pod/shop/api"
    rows = tuple(replace(row, target=bare) for row in MATRIX_RESULT.matrix.rows[:1])
    cells = tuple(
        replace(stuck, target=bare, faults=(fault,), finding=number)
        for number, fault in enumerate(("drain", "upgrade"))
    )
    ends = ((Fact("Pod/shop/api: ready 0"),), (Fact("Pod/shop/api: ready 0, terminating 1"),))
    first = MATRIX_RESULT.results[stuck.finding]
    runs = tuple(replace(first, target=bare, trace=replace(first.trace, final=end, obstacles=())) for end in ends)

    (found,) = matrix_findings(
        replace(MATRIX_RESULT, results=runs), replace(MATRIX_RESULT.matrix, rows=rows, cells=cells)
    )

    assert found.cells == cells


def test_a_workload_that_is_never_deployed_is_told_once():
    matrix = MATRIX_RESULT.matrix
    stuck = next(cell for cell in matrix.cells if cell.grade == Grade.STUCK)
    all_of_them = (replace(stuck, faults=("rollout",)), stuck, replace(stuck, faults=("podCrash",)))

    assert when_of(matrix, all_of_them) == "(rollout; and so whatever happens later)"


def test_the_numbers_of_a_reason_are_told_where_it_is_that_of_one_node():
    facts = (
        Fact("a: Fit: no room (1 free)", node="a", shape="Fit: no room"),
        Fact("b: Fit: no room (2 free)", node="b", shape="Fit: no room"),
        Fact("c: Ports: taken (80)", node="c", shape="Ports: taken"),
    )
    lines = [*ending_lines(facts, Style())]

    assert lines == ["  a, b: Fit: no room", "  c: Ports: taken (80)"]


def test_two_faults_that_one_of_them_explains_are_told_as_such():
    matrix = MATRIX_RESULT.matrix
    stuck = next(cell for cell in matrix.cells if cell.grade == Grade.STUCK)
    pair = replace(stuck, faults=("rollout", "nodeLoss"))

    text = render(replace(MATRIX_RESULT, matrix=replace(matrix, pairs=(pair,), pairs_left=0)), Style())

    assert "Two faults at once: 1 STUCK (all by one of the faults alone)\n" in text


def test_words_of_cells_say_how_low_and_how_long():
    base = Cell("Deployment/shop/web", ("drain",), Grade.DIPS, "told", 1, 40)

    assert word(base) == "1 40s"
    assert word(replace(base, longest_s=None)) == "1"
    assert word(replace(base, lowest=None)) == "dips 40s"
    assert word(replace(base, grade=Grade.UNKNOWN)) == "1 ?"
    assert word(None) == ""
    assert [span(99), span(100), span(345), span(7300), span(None)] == ["99s", "2m", "6m", "3h", ""]


def test_names_are_as_long_as_it_takes_to_tell_them_apart():
    assert short_names(["Deployment/a/web", "Deployment/b/web", "Job/a/db", "Deployment/a/db", "Pod/a/x"]) == {
        "Deployment/a/web": "a/web",
        "Deployment/b/web": "b/web",
        "Job/a/db": "Job/db",
        "Deployment/a/db": "Deployment/db",
        "Pod/a/x": "x",
    }


def test_pods_belong_to_the_workload_whose_name_they_begin_with():
    assert belongs_to("Pod/shop/web-2", "Deployment/shop/web")
    assert belongs_to("Pod/shop/web-rev2-1", "Deployment/shop/web")
    assert belongs_to("Pod/shop/web-2-1", "Deployment/shop/web-2")
    assert not belongs_to("Pod/shop/web-api-1", "Deployment/shop/web")
    assert not belongs_to("Pod/lab/web-1", "Deployment/shop/web")


def test_violations_of_several_workloads_with_one_cause_are_one_block():
    steps = tuple(replace(step, action=step.action.replace("web", "api")) for step in TRACE.steps)
    detail, trace = "pod shop/api-1 has no feasible node", replace(TRACE, steps=steps)
    other = replace(VIOLATION, target="Deployment/shop/api", detail=detail, trace=trace)
    lines = render(replace(RESULT, results=(VIOLATION, other, PROOF)), Style()).splitlines()

    assert "VIOLATED S004 schedulable of 2 workloads: web, api" in lines
    assert lines.count("  What to change: Raise maxSkew to 2.") == 1
    assert "  Shortest run (Deployment/shop/web: 2 steps, 3 nodes, 1 pod)" in lines


def test_two_intents_of_one_run_show_it_once():
    other = replace(VIOLATION, id="L001", key="noPendingForever", detail="a pod of it waits for ever")
    lines = render(replace(RESULT, results=(VIOLATION, PROOF, other)), Style()).splitlines()

    assert lines[6:10] == [
        "VIOLATED S004 schedulable (web fits) Deployment/shop/web",
        "  pod shop/web-1 has no feasible node",
        "  declared at scenario.yaml:9",
        "VIOLATED L001 noPendingForever (web fits) Deployment/shop/web",
    ]
    assert sum(line.startswith("  Shortest run") for line in lines) == 1


def test_an_accepted_violation_shares_no_block():
    accepted = replace(VIOLATION, verdict="SUPPRESSED")

    assert [one.numbers for one in findings((accepted, accepted, VIOLATION))] == [(0,), (1,), (2,)]


def test_a_stuck_finding_tells_how_to_replay_it():
    text = render(MATRIX_RESULT, Style(replay_command="kubeproof replay trace.json"))

    assert "  Replay: kubeproof replay trace.json --intent 'Deployment/shop/api nodeLoss'\n" in text
