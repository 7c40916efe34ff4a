"""Loading a user's own controller: what works, and what every mistake is told as."""

import pytest

from kubeproof.errors import UsageError
from kubeproof.verify.own_controllers import load_own
from tests.unit.model.builders import layout, node, setup

GOOD = """
import dataclasses
from kubeproof.controllers.own import scale

@dataclasses.dataclass
class Saver:
    name: str = "saver"
    labels: tuple = ("pool",)

    def act(self, cluster):
        yield scale(cluster.workloads[0].ref, 2)

class Nameless:
    def act(self, cluster):
        return ()

class Idle:
    name = "idle"

class Broken:
    def __init__(self):
        raise ValueError("no")

number = 3
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "saver.py"
    file.write_text(GOOD, encoding="utf-8")
    return str(file)


def test_a_class_with_a_name_and_act_joins_the_plan(path):
    loop = load_own(f"{path}:Saver")

    adapted = loop.make(layout(setup([node("n1")])))
    assert (loop.labels, adapted.labels, adapted.name) == (("pool",), ("pool",), "saver")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Absent", "has no class 'Absent'"),
        ("number", "has no class 'number'"),
        ("Nameless", "has no `name` or no `act"),
        ("Idle", "has no `name` or no `act"),
        ("Broken", r"Broken\(\) fails: ValueError: no"),
    ],
)
def test_a_class_that_will_not_do_is_refused(path, name, problem):
    with pytest.raises(UsageError, match=problem) as caught:
        load_own(f"{path}:{name}")

    assert caught.value.exit_code == 2


@pytest.mark.parametrize("reference", ["saver.py", ":Saver", "saver.py:", ""])
def test_a_reference_needs_a_file_and_a_class(reference):
    with pytest.raises(UsageError, match="is not of the form"):
        load_own(reference)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(UsageError, match="no file"):
        load_own(f"{tmp_path}/absent.py:Saver")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit"),
    ],
)
def test_code_that_fails_on_import_is_told(tmp_path, text, problem):
    (tmp_path / "bad.py").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=f"fails on import: {problem}"):
        load_own(f"{tmp_path}/bad.py:Saver")


def test_a_file_that_is_not_python_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("Saver", encoding="utf-8")

    with pytest.raises(UsageError, match="is not a Python file"):
        load_own(f"{tmp_path}/notes.txt:Saver")
