"""Charts: ticks reach beyond all values and are whole where pods are counted, nothing is cut off, names stay names."""

from __future__ import annotations

import re

import pytest

from kubeproof.report.charts.axes import make_axis
from kubeproof.report.charts.plots import Cell, Curve, Labels, draw_bars, draw_cells, draw_curves, draw_front
from kubeproof.report.charts.scene import Chart, write_svg

LABELS = Labels("title", "across", "upwards")


@pytest.mark.parametrize("values", [(0.0, 0.3), (17.0, 1234.5), (-3.0, 4.0), (5.0, 5.0), (0.0, 0.0), (1e-9, 3e-9)])
@pytest.mark.parametrize("is_tight", [False, True])
def test_ticks_reach_beyond_all_values(values: tuple[float, ...], is_tight: bool) -> None:
    axis = make_axis(values, 0, 100, is_tight=is_tight)

    assert axis.ticks[0] <= min(values) + 1e-12
    assert axis.ticks[-1] >= max(values) - 1e-12
    assert 2 <= len(axis.ticks) <= 9
    assert len(set(axis.labels)) == len(axis.ticks)
    assert all(0 <= axis.at(value) <= 100 for value in values)


@pytest.mark.parametrize("most", [1, 2, 3, 7, 40, 1000])
def test_pods_have_whole_ticks(most: int) -> None:
    axis = make_axis([0, most], 0, 100, is_whole=True)

    assert all(tick == int(tick) for tick in axis.ticks)
    assert all("." not in label and "e" not in label for label in axis.labels)


def test_a_log_scale_has_powers_of_ten_and_no_room_for_nothing() -> None:
    axis = make_axis([0.0, 2e-7, 0.4], 0, 100, is_log=True)

    assert axis.ticks[0] == pytest.approx(1e-7)
    assert axis.ticks[-1] >= 0.4
    assert not axis.admits(0.0)
    assert axis.at(1e-7) == 0
    assert not make_axis([0.0], 0, 100, is_log=True).is_log


def everything() -> list[Chart]:
    curves = [
        Curve("<b>one</b>", ((1, 2.0), (2, 3.0)), ((1, 1.5), (2, 2.5)), ((1, 2.5), (2, 3.5))),
        Curve("two", ((1, 1.0),)),
    ]  # fmt: skip
    cells = [Cell((0, 1), (0, 1), "good", "HOLDS"), Cell((1, 2), (0, 1), "bad", "VIOLATED")]
    return [
        draw_curves(LABELS, curves, is_whole_across=True),
        draw_curves(LABELS, curves, is_log=True, is_dotted=True),
        draw_curves(LABELS, [Curve(str(number), ((0, number), (1, number))) for number in range(20)]),
        draw_front(LABELS, [(0.0, 59.0), (6.9, 30.0)], ["a", "b"], [(0.0, 58.9), (6.8, 30.0)]),
        draw_cells(LABELS, cells),
        draw_cells(LABELS, cells, has_height=False),
        draw_bars(LABELS, [("fail", -1.97), ("mend", 1.3), ("a very long name that has to be cut somewhere", 0.1)]),
    ]


@pytest.mark.parametrize("chart", everything())
def test_nothing_is_cut_off(chart: Chart) -> None:
    for shape in chart.shapes:
        points = shape.points
        if shape.kind == "box":
            (left, top), (width, height) = points
            points = ((left, top), (left + width, top + height))
        for x, y in points:
            assert -1e-6 <= x <= chart.width
            assert -1e-6 <= y <= chart.height


def test_a_picture_holds_all_charts_and_names_stay_names() -> None:
    text = write_svg(tuple(everything()))

    assert "<b>" not in text
    assert "&lt;b&gt;one&lt;/b&gt;" in text
    height = int(re.search(r'height="(\d+)"', text)[1])  # type: ignore[index]
    assert height == sum(chart.height + 24 for chart in everything()) - 24
    assert "and 8 more" in text
    assert "nothing to draw" in write_svg(())
