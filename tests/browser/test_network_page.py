"""Pages about networks in a real browser: drawn, paths chosen, cells told, nothing asked of anybody."""

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main

ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
SHOP = str(Path(__file__).parents[2] / "examples" / "10-network-policies")


@pytest.fixture
def opened(show):
    """A page that was opened; at the end it must have complained about nothing and asked nobody."""
    pages = []

    def shown(text, **options):
        pages.append(show(text, **options))
        pages[-1].page.locator("svg.network .node").first.wait_for(state="attached")
        return pages[-1]

    yield shown
    for one in pages:
        assert one.problems == []
        assert all(url.startswith(("file:", "data:")) for url in one.requests)


@pytest.fixture
def page_of(tmp_path):
    """The page that a command writes."""

    def written(*arguments):
        file = tmp_path / "page.html"
        main([*arguments, "-o", f"html={file}"])
        return file.read_text(encoding="utf-8")

    return written


@pytest.fixture
def lossy(tmp_path):
    file = tmp_path / "home.yaml"
    main(["network", "generate", "home", "--fault", "loop:router>ap@2-2", "-o", f"yaml={file}"])
    return str(file)


def test_paths_are_drawn_with_where_they_break(opened, page_of, lossy):
    shown = opened(page_of("network", "verify", lossy, "--ltl", 'G !"CURRENT_NODE == ap"'))
    buttons = shown.page.locator(".choices button")

    assert shown.page.locator("svg.network .node").count() == 7
    assert shown.page.locator("svg.network .link").count() == 6
    assert shown.page.locator("svg.network .break").count() == 2
    assert shown.page.locator("svg.network .node.end title").text_content() == "ap"
    assert buttons.count() == 2
    buttons.nth(1).click()
    assert shown.page.locator("svg.network .way.loop").count() == 2
    assert shown.page.locator("svg.network .break").count() == 0
    assert "and so on for ever" in shown.page.locator("#drawing .path-lines").text_content()


def test_a_matrix_tells_pairs_and_their_reasons(opened, page_of):
    shown = opened(page_of("network", "matrix", SHOP))

    assert shown.page.locator("table.may tbody tr").count() == 5
    cell = shown.page.locator("table.may td.some").first
    assert "ingress admitted by NetworkPolicy/shop/db" in cell.get_attribute("title")
    assert shown.page.locator("svg.network .arrow").count() == 12
    shown.page.locator("select").select_option(label="StatefulSet/shop/db")
    assert shown.page.locator("svg.network .arrow.on").count() == 5
    assert shown.page.locator("svg.network .arrow.off").count() == 7


def test_what_changed_stands_first(opened, page_of, tmp_path):
    old = tmp_path / "shop.yaml"
    text = (Path(SHOP) / "shop.yaml").read_text(encoding="utf-8")
    old.write_text(text.replace("port: 5432", "port: 5433"), encoding="utf-8")
    shown = opened(page_of("network", "matrix", SHOP, "--base", str(old)))

    assert shown.page.locator("main > section h2").first.text_content() == "What changed"
    assert shown.page.locator("#changes tbody tr").count() == 1
    assert shown.page.locator("table.may td.changed").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(opened, page_of, lossy, scheme):
    for arguments in (("network", "verify", lossy), ("network", "matrix", SHOP)):
        shown = opened(page_of(*arguments), color_scheme=scheme)
        assert shown.page.evaluate(ACCESSIBLE) == []


def test_names_cannot_become_markup(opened, page_of, tmp_path):
    file = tmp_path / "net.json"
    bad = "<img/src=x/onerror=alert(1)>"
    spec = {
        "nodes": ["a", bad], "links": [["a", bad]], "traffic": [{"sources": ["a"], "destinations": [bad]}],
        "snapshots": [{"tables": {}}], "properties": [{"reach": {}}],
    }  # fmt: skip
    document = {"apiVersion": "kubeproof.dev/v1alpha1", "kind": "Network", "metadata": {"name": bad}, "spec": spec}
    file.write_text(json.dumps(document), encoding="utf-8")
    shown = opened(page_of("network", "verify", str(file)))

    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("svg.network .node title").nth(1).text_content() == bad
