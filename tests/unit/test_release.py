"""What a release has: artifacts that install, pinned hashes, manifests of installers, an image without rights."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tools.release import build, check, version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
REQUIREMENTS = ROOT / "tools" / "action" / "requirements.txt"
PINS = build.pins(REQUIREMENTS.read_text("utf-8"))
IMAGE = (ROOT / "deploy" / "image" / "Containerfile").read_text("utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: (?!\./)(\S+)@(\S+)(.*)")


def make(*command: str, **variables: str) -> None:
    """Runs a build; what it says is told if it fails."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """What git knows of this checkout, or all of an unpacked sdist: builds leave nothing behind in the original."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("src", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md"):
        ignored = ("*.so", "*.egg-info", "__pycache__", "*.c")
        exclude = [word for pattern in ignored for word in ("--exclude", pattern)]
        packed = subprocess.run(["tar", "-C", str(ROOT), *exclude, "-cf", "-", name], capture_output=True, check=True)
        subprocess.run(["tar", "-C", str(copy), "-xf", "-"], input=packed.stdout, check=True)
    return copy


def test_the_wheel_without_a_compiler_runs_what_the_readme_promises(checkout, tmp_path):
    code = "import setuptools.build_meta as b, sys, os; os.chdir(sys.argv[1]); b.build_wheel(sys.argv[2])"
    make("-c", code, str(checkout), str(tmp_path), KUBEPROOF_NO_EXTENSION="1")
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        packed.extractall(tmp_path / "installed")
    assert [name for name in names if name.endswith((".pyx", ".c"))] == []
    assert "kubeproof/py.typed" in names

    script = "import sys, kubeproof; from kubeproof.cli.main import main; print(kubeproof.__file__); sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "verify", "examples/01-conflicting-spread"],
        cwd=ROOT, env={"PYTHONPATH": str(tmp_path / "installed")}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.startswith(str(tmp_path))
    assert (done.returncode, "VIOLATED S005" in done.stdout) == (1, True), done.stderr


@pytest.mark.slow
def test_wheel_and_sdist_install_under_every_python_that_is_here(tmp_path):
    if not check.is_online():
        pytest.skip("pip needs the network")
    make("-m", "tools.release.build", str(tmp_path), "--repository", "example/kubeproof")

    assert check.check(tmp_path, quick=False) == 0


def test_a_wheel_fits_one_version_and_one_machine():
    here = {"darwin": "macosx_14_0", "win32": "win"}.get(sys.platform, "manylinux_2_28") + f"_{platform.machine()}"
    names = [
        "kubeproof-1-py3-none-any.whl",
        f"kubeproof-1-cp312-cp312-{here}.whl",
        "kubeproof-1-cp312-cp312-aix_ppc.whl",
    ]

    assert [check.fits(name, "3.12") for name in names] == [True, sys.platform != "win32", False]
    assert [check.fits(name, "3.13") for name in names] == [True, False, False]


def test_the_archive_of_a_plug_in_is_the_same_for_the_same_files(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "module.py").write_text("x = 1\n")

    first, second = (build.pack(tmp_path / "lib", tmp_path / name) for name in ("a.tar.gz", "b.tar.gz"))

    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as tar:
        modes = {member.name: oct(member.mode) for member in tar}
    assert modes == {"kubectl-proof": "0o755", "LICENSE": "0o644", "lib/module.py": "0o644"}


def test_the_plug_in_starts_behind_a_link(tmp_path):
    (tmp_path / "lib" / "kubeproof" / "cli").mkdir(parents=True)
    for place in ("", "cli/"):
        (tmp_path / "lib" / "kubeproof" / f"{place}__init__.py").write_text("")
    (tmp_path / "lib" / "kubeproof" / "cli" / "main.py").write_text(
        "import sys\ndef main():\n    print(*sys.argv)\n    return 3\n"
    )
    (tmp_path / "store").mkdir()
    with tarfile.open(build.pack(tmp_path / "lib", tmp_path / "a.tar.gz")) as tar:
        tar.extractall(tmp_path / "store", filter="data")
    (tmp_path / "kubectl-proof").symlink_to("store/kubectl-proof")

    found = {"PATH": "/usr/bin:/bin", "KUBEPROOF_PYTHON": sys.executable}
    command = [tmp_path / "kubectl-proof", "verify", "a b"]
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (3, "kubectl-proof verify a b\n")


def test_manifests_of_installers_name_the_artifacts_and_their_hashes(tmp_path):
    sdist, archive = tmp_path / "kubeproof-1.tar.gz", tmp_path / "kubectl-proof-1.tar.gz"
    sdist.write_text("sdist")
    archive.write_text("archive")

    build.write_manifests(tmp_path, "example/kubeproof", sdist=sdist, archive=archive)

    plugin = yaml.safe_load((tmp_path / "proof.yaml").read_text())
    (platform,) = plugin["spec"]["platforms"]
    assert (platform["sha256"], platform["bin"]) == (build.sha256(archive), "kubectl-proof")
    assert platform["uri"].endswith(f"/v{build.version()}/{archive.name}")
    formula = (tmp_path / "kubeproof.rb").read_text()
    assert build.sha256(sdist) in formula
    assert not re.search(r"[{]\w+[}]", formula.replace("#{bin}", ""))


def test_sources_of_the_formula_are_the_pinned_ones():
    lines = (ROOT / "deploy" / "homebrew" / "sources.txt").read_text().splitlines()
    listed = {file: digest for digest, file in map(str.split, lines)}

    assert set(listed) == {f"{name}-{PINS[name][0]}.tar.gz" for name in build.BUNDLED}
    assert [file for file, digest in listed.items() if digest not in PINS[file.rpartition("-")[0]][1]] == []


def needed() -> list[Requirement]:
    extras = PROJECT["project"]["optional-dependencies"]
    return [
        *map(Requirement, [*PROJECT["project"]["dependencies"], *extras["fix"], *PROJECT["build-system"]["requires"]])
    ]


@pytest.mark.parametrize("requirement", needed(), ids=lambda one: one.name)
def test_what_the_action_installs_is_pinned_with_hashes(requirement):
    number, hashes = PINS[requirement.name.lower().replace(".", "-")]

    assert requirement.specifier.contains(number)
    assert hashes


def test_nothing_else_is_pinned_and_every_pin_has_a_hash():
    named = re.findall(r"^[\w.-]+==", REQUIREMENTS.read_text("utf-8"), re.MULTILINE)

    assert len(PINS) == len(named) == len(needed())


def test_wheels_are_built_for_every_python_that_is_promised():
    promised = re.findall(r":: 3\.(\d+)'", str(PROJECT["project"]["classifiers"]))
    built = re.findall(r"cp3(\d+)-", PROJECT["tool"]["cibuildwheel"]["build"])

    assert built == promised == ["11", "12", "13", "14"]
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains("3.11")


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_of_others_are_named_by_commit(file):
    uses = PINNED.findall(file.read_text("utf-8"))

    assert uses
    assert [one for one in uses if not re.fullmatch(r"[0-9a-f]{40}", one[1]) or " # v" not in one[2]] == []


def test_the_image_runs_without_rights_and_from_pinned_packages():
    stages = IMAGE.split("\nFROM ")[1:]
    instructions = re.findall(r"^([A-Z]+) (.+)$", stages[-1], re.MULTILINE)
    users = [value for name, value in instructions if name == "USER"]

    assert len(stages) == 2
    assert users == ["65532:65532"]
    assert instructions[-2:] == [("ENTRYPOINT", '["kubeproof"]'), ("CMD", '["--help"]')]
    assert "--require-hashes" in IMAGE
    assert [word for word in (":latest", "\nADD ", "sudo", "chmod 777") if word in IMAGE] == []
    assert {name for name, _ in instructions} <= {"LABEL", "COPY", "ENV", "WORKDIR", "USER", "ENTRYPOINT", "CMD"}


def test_the_image_takes_nothing_that_a_checkout_does_not_need():
    ignored = (ROOT / ".dockerignore").read_text().split()

    assert {".git", ".venv", "**/*.so"} <= set(ignored)


def test_a_new_version_is_written_wherever_it_stands(tmp_path):
    for name in version.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())

    version.raise_version("7.8.9", tmp_path)

    assert tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["version"] == "7.8.9"
    assert '__version__ = "7.8.9"' in (tmp_path / "src/kubeproof/__init__.py").read_text()
    assert all("7.8.9" in (tmp_path / name).read_text() for name in version.PLACES)


def test_a_place_without_a_version_stops_the_release(tmp_path):
    for name in version.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("nothing")

    with pytest.raises(SystemExit, match="0 lines with a version"):
        version.raise_version("7.8.9", tmp_path)


@pytest.mark.parametrize("path", sorted((ROOT / "changelog.d").glob("+*.md")), ids=lambda path: path.stem)
def test_links_of_fragments_will_lead_somewhere_in_the_changelog(path):
    links = re.findall(r"\]\(([^)#\s]+)", path.read_text("utf-8"))

    assert [link for link in links if not (ROOT / link).exists()] == []
