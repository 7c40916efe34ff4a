"""What an installation needs is in the wheel, not only in the checkout."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "kubeproof"
CODE = {".py", ".pyi", ".pyx", ".pxd", ".pyc", ".so", ".pyd", ".c"}


def data_files() -> set[Path]:
    """All files of the package that Python does not import."""
    return {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in CODE}


def packaged_files() -> set[Path]:
    """The files that the build names as data of the package."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["kubeproof"]
    return {path for pattern in patterns for path in PACKAGE.glob(pattern)}


def test_every_data_file_of_the_package_is_in_the_wheel() -> None:
    assert sorted(data_files() - packaged_files()) == []


def test_the_scale_that_all_cases_support_is_in_the_wheel() -> None:
    assert PACKAGE / "cases" / "c1" / "golden.json" in packaged_files()


def test_every_folder_with_modules_is_a_package_and_so_in_the_wheel() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert sorted(folder for folder in folders if not (folder / "__init__.py").is_file()) == []
