"""The page of tuning in a real browser: the best setting, the ranking, points, and the change."""

from pathlib import Path

import pytest

from kubeproof.manifests.load import load
from kubeproof.report.frame import Frame
from kubeproof.report.tune import as_html
from kubeproof.simulate.options import SimulateOptions
from kubeproof.tune.run import TuneOptions, tune_cluster
from kubeproof.tune.values import parse_asked
from tests.unit.tune.promised import PROMISED

ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("tuned") / "web.yaml"
    path.write_text(PROMISED, encoding="utf-8")
    asked = (parse_asked("Deployment/shop/web.replicas=1..4"), parse_asked("nodes=1,2"))
    options = TuneOptions(simulate=SimulateOptions(duration_s=120, runs=2), asked=asked, settings=8)
    return tune_cluster(load((str(path),)), options)


@pytest.mark.parametrize("width", [1200, 380])
def test_the_page_tells_the_setting_and_what_to_change(show, found, width):
    shown = show(as_html(found, Frame()), viewport={"width": width, "height": 900})
    page = shown.page
    page.locator("svg.cloud circle").first.wait_for(state="attached")

    assert page.locator("h1").inner_text() == "Best setting found"
    assert page.locator("svg.cloud circle").count() == len(found.ranking)
    assert page.locator("svg.cloud circle.chosen").count() == 2
    assert page.locator("#ranking tbody tr").count() == len(found.ranking)
    assert page.locator("#best dd").all_inner_texts() == ["2", "1"]
    assert "-  replicas: 3" in page.locator("#change").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(ACCESSIBLE) == []
    assert shown.problems == []
    assert all(url.startswith(("file:", "data:")) for url in shown.requests)
