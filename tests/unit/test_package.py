"""What the package promises to those who install or import it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kubeproof

ROOT = Path(__file__).parents[2]


def test_public_names_are_exactly_the_documented_ones():
    documented = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reference/python-api.md").read_text(), re.MULTILINE)

    assert sorted(documented) == sorted(kubeproof.__all__)


def test_public_names_are_those_that_have_a_home():
    assert set(kubeproof.__all__) == {*kubeproof._HOMES, "__version__"}


@pytest.mark.parametrize(
    "name",
    ["IntentResult", "KubeproofError", "Loaded", "Trace", "TraceStep", "Verification", "VerifyOptions", "VerifyResult"],
)
def test_a_public_class_is_loaded_from_its_room(name):
    assert getattr(kubeproof, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kubeproof.nonsense


def test_importing_the_package_imports_no_room():
    script = "import sys, kubeproof; print(sorted(m for m in sys.modules if m.startswith('kubeproof')))"

    assert _python(script) == "['kubeproof']\n"


def test_importing_the_command_line_imports_nothing_heavy():
    script = "import sys, kubeproof.cli.main; print({'yaml', 'json', 'kubeproof.verify'} & set(sys.modules))"

    assert _python(script) == "set()\n"


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["version"] == kubeproof.__version__


def test_both_console_scripts_start_the_same_program():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    assert scripts == {"kubeproof": "kubeproof.cli.main:main", "kubectl-proof": "kubeproof.cli.main:main"}


def test_the_readme_has_the_command_that_ci_runs():
    found = re.findall(r"^python3 -m venv .*pytest.*$", (ROOT / "README.md").read_text(), re.MULTILINE)

    assert found == ["python3 -m venv .venv && .venv/bin/pip install -q -e '.[dev]' && .venv/bin/python -m pytest"]


def _python(script: str) -> str:
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); "
    return subprocess.run([sys.executable, "-c", path + script], capture_output=True, text=True, check=True).stdout
