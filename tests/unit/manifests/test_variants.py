"""Several variants of one cluster in one directory: bases and overlays, charts, releases beside their sources."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from kubeproof.errors import ManifestError, RecipeError
from kubeproof.manifests.folders.directories import survey
from kubeproof.manifests.folders.fence import Fence
from kubeproof.manifests.folders.files import read_file
from kubeproof.manifests.folders.kustomizations import lie_as_variants, rank
from kubeproof.manifests.load import load, load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.yaml.guard import Bounds
from tests.unit.manifests.inputs import deployment, node


def lay(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def taken(folder: Path) -> list[str]:
    """What of a directory is to be read or rendered, relative to it."""
    found = survey(str(folder), Bounds(), Fence(), lambda file: read_file(file, Bounds()))
    return [str(Path(file).relative_to(folder)) for file in found.files]


def left_out(folder: Path) -> list[tuple[str, list[str]]]:
    """What is noted to be left out: the place that the note stands at, and the others."""
    found = survey(str(folder), Bounds(), Fence(), lambda file: read_file(file, Bounds()))
    return [
        (str(Path(note.source.file).relative_to(folder)), [str(Path(p.file).relative_to(folder)) for p in note.also])
        for note in found.notes
    ]


def refuse(recipe: str, bounds: Bounds) -> bytes:
    """A renderer without its program."""
    raise RecipeError("kustomize is not on the PATH", file=recipe, remedy="Install it")


def refs(loaded: Loaded) -> list[str]:
    return [workload.ref for workload in loaded.setup.workloads]


# -- kustomizations -------------------------------------------------------------------------------

OVERLAYS = {
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "base/web.yaml": deployment(),
    "overlays/dev/kustomization.yaml": "resources: [../../base]\n",
    "overlays/init-production/kustomization.yaml": "bases: [../../base]\n",
    "overlays/production/kustomization.yaml": "resources: [../../base]\npatches: [{path: ../../more/patch.yaml}]\n",
    "more/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n",
    "more/own.yaml": deployment("own"),
    "parts/kustomization.yaml": "kind: Component\n",
}


def test_of_overlays_of_one_base_the_one_for_production_is_rendered_without_base_and_parts(tmp_path: Path) -> None:
    lay(tmp_path, OVERLAYS)

    assert taken(tmp_path) == ["more/own.yaml", "overlays/production/kustomization.yaml"]
    assert left_out(tmp_path) == [
        (
            "overlays/production/kustomization.yaml",
            ["overlays/init-production/kustomization.yaml", "overlays/dev/kustomization.yaml"],
        ),
        ("base/kustomization.yaml", ["parts/kustomization.yaml"]),
    ]


def test_the_note_says_what_is_verified_and_how_to_verify_another(tmp_path: Path) -> None:
    lay(tmp_path, OVERLAYS)
    (first, _) = survey(str(tmp_path), Bounds(), Fence(), lambda file: read_file(file, Bounds())).notes

    assert (first.id, first.severity) == ("R004", "note")
    assert first.what == f"{tmp_path}/overlays/init-production, {tmp_path}/overlays/dev left out"
    assert f"{tmp_path}/overlays/production is verified" in first.why


def test_a_kustomization_that_is_named_is_rendered_and_overlays_of_it_are_told(tmp_path: Path) -> None:
    lay(tmp_path, {"kustomization.yaml": "", "overlays/dev/kustomization.yml": "resources: [../..]\n", "web.yaml": "a"})

    assert taken(tmp_path) == ["kustomization.yaml"]
    assert left_out(tmp_path) == [("kustomization.yaml", ["overlays/dev/kustomization.yml"])]


def test_different_apps_on_a_common_base_are_no_variants(tmp_path: Path) -> None:
    lay(tmp_path, {f"{name}/kustomization.yaml": "resources: [../common]\n" for name in ("orders", "users")})
    lay(tmp_path, {"common/kustomization.yaml": ""})

    assert taken(tmp_path) == ["orders/kustomization.yaml", "users/kustomization.yaml"]


def test_kustomizations_that_build_on_each_other_and_broken_ones_end_the_search(tmp_path: Path) -> None:
    lay(tmp_path, {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"})
    lay(
        tmp_path, {"c/kustomization.yaml": "resources: [\n", "d/kustomization.yaml": "resources: {x: [1, https://x/y]}"}
    )

    assert taken(tmp_path) == ["c/kustomization.yaml", "d/kustomization.yaml"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("overlays/a", "overlays/b", True),
        ("envs/dev/app", "envs/prod/app", True),
        ("app/gke", "app/eks", True),
        ("app/web-dev", "app/web-prod", True),
        ("app/orders", "app/users", False),
        ("overlays/a/x", "overlays/b/y", False),
        ("overlays/a", "overlays/a/b", False),
    ],
)
def test_variants_are_told_by_their_place_or_name(one: str, other: str, expected: bool) -> None:
    assert lie_as_variants(one, other) is expected


def test_the_whole_word_for_production_comes_first() -> None:
    names = ["x/dev", "x/init-db-production", "x/prod", "x/production", "x/production-fwi"]

    assert sorted(names, key=rank)[:3] == ["x/production", "x/prod", "x/production-fwi"]


def test_files_of_a_kustomization_that_nobody_can_render_are_read_as_they_are(tmp_path: Path) -> None:
    lay(tmp_path, OVERLAYS)
    lay(tmp_path, {"node.yaml": node()})
    loaded = load(tmp_path, render=refuse, is_tolerant=True)

    assert refs(loaded) == ["Deployment/shop/own", "Deployment/shop/web"]
    assert [(n.id, n.severity, n.why) for n in loaded.notes if n.id == "R003"] == [
        ("R003", "error", "Install it. Until then its files are verified as they are, without its patches")
    ]
    assert refs(load_texts(loaded.texts)) == refs(loaded)


def test_what_is_wrong_with_parts_of_a_kustomization_that_nobody_can_render_is_not_told_as_well(tmp_path: Path) -> None:
    base = "resources: [web.yaml, half.yaml, torn.yaml]\n"
    half = deployment("half").replace("selector:", "labels:")
    lay(tmp_path, {"base/kustomization.yaml": base, "base/web.yaml": deployment(), "base/half.yaml": half})
    lay(tmp_path, {"base/torn.yaml": "apiVersion: v1\nkind: Pod\na: b: c\n"})
    for name in ("one", "two"):
        own = f"{name}/own.yaml"
        lay(tmp_path, {f"{name}/kustomization.yaml": "resources: [../base, own.yaml]\n", own: deployment("own")})
    loaded = load(tmp_path, render=refuse, is_tolerant=True)

    assert sorted(refs(loaded)) == ["Deployment/shop/own", "Deployment/shop/web"]
    assert [(n.id, n.why) for n in loaded.notes if n.id in ("R001", "R002")] == [
        ("R001", "left out: a part of a kustomization that cannot be rendered, and no object without it")
    ]
    assert {Path(n.source.file).name for n in loaded.notes if n.id == "R003"} == {"kustomization.yaml"}


def test_a_recipe_alone_that_nobody_can_render_is_refused(tmp_path: Path) -> None:
    lay(tmp_path, {"Chart.yaml": "name: web\n"})

    with pytest.raises(RecipeError, match=r"kustomize is not on the PATH\. Install it"):
        load(tmp_path, render=refuse, is_tolerant=True)


# -- charts ---------------------------------------------------------------------------------------


def test_what_a_chart_gives_without_its_dependencies_is_verified_with_a_warning(tmp_path: Path) -> None:
    def render(recipe: str, bounds: Bounds) -> bytes:
        problem = ManifestError("missing in charts/", file=recipe, line=0, remedy="Run: helm dependency build")
        problem.rest = deployment().encode()
        raise problem

    lay(tmp_path, {"Chart.yaml": "name: web\n"})
    loaded = load(tmp_path, render=render, is_tolerant=True)

    assert refs(loaded) == ["Deployment/shop/web"]
    assert [(n.id, n.severity) for n in loaded.notes] == [("R003", "warning")]


def test_a_library_chart_gives_nothing(tmp_path: Path) -> None:
    lay(tmp_path, {"lib/Chart.yaml": "name: lib\ntype: library\n", "web.yaml": deployment()})
    loaded = load(tmp_path, render=refuse, is_tolerant=True)

    assert [(n.id, n.severity) for n in loaded.notes] == [("R001", "note")]


# -- directories with the same workloads ----------------------------------------------------------


def test_of_two_directories_with_mostly_the_same_workloads_the_larger_one_is_verified(tmp_path: Path) -> None:
    a, b, c, d, e, f = (deployment(name) for name in "abcdef")
    lay(tmp_path, {"old/all.yaml": "---\n".join((a, b, e)), "new/all.yaml": "---\n".join((a, b, c, d))})
    lay(tmp_path, {"other/all.yaml": f"{a}---\n{f}", "node.yaml": node()})
    loaded = load(tmp_path)

    assert refs(loaded) == [f"Deployment/shop/{name}" for name in "bcdaf"]
    assert [(n.id, Path(n.source.file).parent.name, len(n.also)) for n in loaded.notes] == [
        ("R002", "other", 1),
        ("R004", "new", 1),
    ]
    assert refs(load_texts(loaded.texts)) == refs(loaded)
    assert not [file for file in loaded.files if "/old/" in file]


def test_a_release_is_taken_before_the_chart_and_the_overlay_it_was_made_of(tmp_path: Path) -> None:
    texts = {
        "Chart.yaml": deployment("rel-web").replace("example/app", "registry/app:2"),
        "kustomization.yaml": deployment().replace("namespace: shop", "namespace: prod"),
    }
    lay(tmp_path, {"chart/Chart.yaml": "name: web\n", "k8s/overlays/x/kustomization.yaml": ""})
    lay(tmp_path, {"release/web.yaml": deployment().replace("example/app", "registry/app:1")})
    loaded = load(tmp_path, render=lambda recipe, _: texts[Path(recipe).name].encode())

    assert refs(loaded) == ["Deployment/shop/web"]
    assert [len(note.also) for note in loaded.notes] == [2]


def test_what_is_named_is_always_taken(tmp_path: Path) -> None:
    lay(tmp_path, {"a/web.yaml": deployment(spec="replicas: 1,"), "b/web.yaml": deployment(spec="replicas: 2,")})
    loaded = load([tmp_path / "b", tmp_path / "a"])

    assert [workload.replicas for workload in loaded.setup.workloads] == [1]
    assert [note.id for note in loaded.notes] == ["R002"]


def test_the_same_names_in_other_namespaces_are_other_workloads(tmp_path: Path) -> None:
    lay(tmp_path, {"a/web.yaml": deployment(), "b/web.yaml": deployment().replace("namespace: shop", "namespace: b")})

    assert refs(load(tmp_path)) == ["Deployment/shop/web", "Deployment/b/web"]
