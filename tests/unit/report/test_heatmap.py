"""Heat maps: as characters, as SVG inside HTML, as PNG."""

import struct
import zlib
from dataclasses import replace

from kubeproof.report.frame import Frame
from kubeproof.report.heatmap import png, text_lines
from kubeproof.report.html import document as html_document
from kubeproof.report.json import document
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


def test_png_is_a_picture_with_the_colour_of_every_verdict():
    picture = png(SWEEP)

    width, height, *form = struct.unpack(">IIBBBBB", picture[16:29])
    length = int.from_bytes(picture[33:37], "big")
    pixels = zlib.decompress(picture[41 : 41 + length])
    assert picture.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert picture.endswith(b"\0\0\0\0IEND\xaeB`\x82")
    assert form == [8, 2, 0, 0, 0]
    assert len(pixels) == height * (1 + 3 * width)
    assert all(bytes.fromhex(colour) in pixels for colour in ("c0392b", "2e9e5b", "f39c12", "bdc3c7", "ecf0f1"))


def test_png_names_its_axes_and_colours(monkeypatch):
    written = []
    monkeypatch.setattr("kubeproof.report.picture.Canvas.write", lambda _, x, y, text: written.append((text, x, y)))
    width, height = struct.unpack(">II", png(SWEEP)[16:24])

    words = [text for text, _, _ in written]
    assert {"pods", "nodes", "violated", "not decided", "not tried", "holds", "trivial"} <= set(words)
    assert all(x >= 0 and x + 8 * len(text) <= width and y + 10 <= height for text, x, y in written)


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
