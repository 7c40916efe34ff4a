"""Heat maps: as characters, inside HTML, as SVG."""

import xml.etree.ElementTree as Tree
from dataclasses import replace

from kubeproof.report.formats.json import document
from kubeproof.report.frame import Frame
from kubeproof.report.html.heatmap import svg, text_lines
from kubeproof.report.html.page import document as html_document
from kubeproof.report.style import Style
from kubeproof.verify.resize import Size
from kubeproof.verify.scaling.esc import Esc, Minimum
from kubeproof.verify.scaling.result import SizeVerdict, Sweep
from tests.unit.report.results import RESULT


def line(nodes, pods, verdict):
    return SizeVerdict(Size((("a", nodes),), (("Deployment/shop/web", pods),)), verdict, 10)


SWEEP = Sweep(
    sizes=(
        line(1, 1, "HOLDS"),
        line(1, 2, "TRIVIAL"),
        line(2, 1, "UNKNOWN"),
        line(2, 2, "VIOLATED"),
        line(3, 1, "NOT-TRIED"),
        line(3, 3, "NOT-TRIED"),
    ),
    bound="1 to 3 x a",
    esc=Esc(6, 6, (Minimum("c4", 1, 3),)),
)


def test_text_has_nodes_to_the_right_and_pods_upwards_as_far_as_was_tried():
    assert list(text_lines(SWEEP, Style())) == [
        "pods",
        "   2 |  -  X",
        "   1 |  .  ?",
        "     +--------- nodes",
        "        1  2  3",
        "X violated, ? not decided, blank not tried, . holds, - trivial",
    ]


def test_svg_is_a_picture_with_the_colour_of_every_verdict():
    boxes = [box.attrib for box in Tree.fromstring(svg(SWEEP)).iter("{http://www.w3.org/2000/svg}rect")]

    assert {box["fill"] for box in boxes} == {
        *("#ffffff", "#c0392b", "#2e9e5b", "#f39c12", "#bdc3c7", "#ecf0f1"),
    }
    assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes)


def test_svg_names_its_axes_and_colours():
    picture = Tree.fromstring(svg(SWEEP))

    written = [(one.text, int(one.get("x")), int(one.get("y"))) for one in picture if one.tag.endswith("text")]
    assert {"pods", "nodes", "violated", "not decided", "not tried", "holds", "trivial"} <= {one[0] for one in written}
    width, height = int(picture.get("width")), int(picture.get("height"))
    assert all(x >= 0 and x + 8 * len(text) <= width and y <= height for text, x, y in written)


def test_html_holds_the_cells_of_the_map():
    sweep = html_document(replace(RESULT, sweep=SWEEP), ("no run",) * len(RESULT.results), Frame())["sweep"]

    assert [(cell["nodes"], cell["pods"], cell["verdict"], cell["sign"]) for cell in sweep["cells"]][3] == (
        *(2, 2, "VIOLATED", "X"),
    )
    assert {verdict for verdict, _, _ in sweep["legend"]} == {cell["verdict"] for cell in sweep["cells"]}


def test_html_without_a_sweep_has_no_map():
    assert html_document(RESULT, ("no run",) * len(RESULT.results), Frame())["sweep"] is None


def test_json_lists_every_size_the_basis_and_the_map():
    sweep = document(replace(RESULT, sweep=SWEEP))["sweep"]

    assert [(size["scale"]["nodes"], size["verdict"]) for size in sweep["sizes"]][:2] == [(1, "HOLDS"), (1, "TRIVIAL")]
    assert sweep["esc"] == {"nodes": 6, "pods_per_node": 6, "basis": ({"case": "c4", "nodes": 1, "pods": 3},)}
    assert sweep["heat_map"][3] == {"nodes": 2, "pods": 2, "verdict": "VIOLATED", "sizes": 1, "violated": 1}
