import pytest

from kubeproof.cli.main import main
from kubeproof.cli.options.settings import find_settings


def write(directory, text, name=".kubeproof.yaml"):
    (directory / name).write_text(text)


def test_settings_are_found_upwards_from_the_working_directory(fakes, tmp_path, monkeypatch):
    write(tmp_path, "verify: {timeout: 60, memory: 1, maxStates: 5, engine: python, reductions: false}")
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")

    main(["verify", "x"])

    options = fakes.options
    assert (options.timeout_s, options.memory_bytes, options.max_states) == (60.0, 1_048_576, 5)
    assert (options.engine, options.reductions) == ("python", False)


def test_a_flag_beats_the_environment_which_beats_the_file(fakes, tmp_path, monkeypatch):
    write(tmp_path, "verify: {timeout: 1, memory: 1, maxStates: 1}")
    monkeypatch.setenv("KUBEPROOF_TIMEOUT", "2")
    monkeypatch.setenv("KUBEPROOF_MEMORY", "2")

    main(["verify", "x", "--timeout", "3"])

    options = fakes.options
    assert (options.timeout_s, options.memory_bytes, options.max_states) == (3.0, 2_097_152, 1)


def test_controllers_can_come_from_the_environment(fakes, monkeypatch):
    monkeypatch.setenv("KUBEPROOF_CONTROLLER", "a.py:A b.py:B")

    main(["verify", "x"])

    assert fakes.options.controllers == ("a.py:A", "b.py:B")


def test_another_file_can_be_named(fakes, tmp_path):
    write(tmp_path, "verify: {maxStates: 1}")
    write(tmp_path, "verify: {maxStates: 2}", "other.yaml")

    main(["verify", "x", "--config", "other.yaml"])

    assert fakes.options.max_states == 2


@pytest.mark.parametrize("text", ["", "# nothing\n", "verify:\n", "verify: {}\n"])
def test_a_file_may_be_empty(fakes, tmp_path, text):
    write(tmp_path, text)

    assert main(["verify", "x"]) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("verfy: {}", "unknown setting verfy. Did you mean verify?"),
        ("verify: {maxstates: 1}", "unknown setting verify.maxstates. Did you mean verify.maxStates?"),
        ("verify: {zzz: 1}", "unknown setting verify.zzz. Known: nodes, engine, timeout,"),
        ("verify: 3", "verify must be a mapping"),
        ("verify: {timeout: [1]}", "verify.timeout must be a single value"),
        ("verify: {timeout: soon}", "verify.timeout: 'soon' is not a valid float range"),
        ("verify: {maxStates: true}", "verify.maxStates: 'True' is not a valid integer range"),
        ("verify: {controllers: [evil.py:X]}", "controllers cannot be set in a file"),
    ],
)
def test_a_wrong_setting_is_exit_2_with_the_file_and_a_remedy(fakes, tmp_path, capsys, text, said):
    write(tmp_path, text)

    assert main(["verify", "x"]) == 2

    err = capsys.readouterr().err
    assert err.startswith(f"error: E202 {tmp_path}/.kubeproof.yaml:1: ")
    assert said in err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# ours\nverify:\n  timeout: 5\n  maxstates: 1\n", 4),
        ("verify:\n  timeout: 5\n\n  memory: much\n", 4),
        ("\nverify: 3\n", 2),
        ("verify:\n  timeout: 5\nexemption: []\n", 3),
        ("verify:\n  timeout: [1\n", 3),
        ("verify:\n  timeout: &a 1\n  memory: *a\n", 3),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(fakes, tmp_path, capsys, text, line):
    write(tmp_path, text)

    assert main(["verify", "x"]) == 2

    assert capsys.readouterr().err.startswith(f"error: E202 {tmp_path}/.kubeproof.yaml:{line}: ")


def test_help_needs_no_valid_settings(fakes, tmp_path):
    write(tmp_path, "verify: 3")

    assert main(["verify", "--help"]) == 0


def test_a_deleted_working_directory_is_no_problem(fakes, monkeypatch):
    def gone():
        raise FileNotFoundError

    monkeypatch.setattr("os.getcwd", gone)

    assert main(["verify", "x"]) == 1


def test_without_any_file_there_are_no_settings(tmp_path):
    assert find_settings(str(tmp_path)) is None
