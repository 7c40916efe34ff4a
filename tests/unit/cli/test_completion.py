"""Shell completion: the script of each shell, and the words it asks for."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kubeproof.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_kubeproof_for_words(capsys, shell):
    assert main(["completion", shell]) == 0

    out, err = capsys.readouterr()
    assert f"_KUBEPROOF_COMPLETE={shell}_complete" in out
    assert err == ""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_is_valid(capsys, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    main(["completion", shell])

    subprocess.run([shell, "-n"], input=capsys.readouterr().out, text=True, check=True)


def test_another_shell_is_wrong_usage(capsys):
    assert main(["completion", "cmd"]) == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kubeproof ver", "plain,verify"),
        ("kubeproof cases r", "plain,run"),
        ("kubeproof verify --fail", "plain,--fail-on"),
        ("kubeproof verify --fail-on w", "plain,warning"),
        ("kubeproof explain S00", "plain,S005"),
        ("kubeproof explain noEv", "plain,noEvictionLoop"),
    ],
)
def test_words_are_completed(capsys, monkeypatch, words, expected):
    monkeypatch.setenv("_KUBEPROOF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))

    assert main([]) == 0
    assert expected in capsys.readouterr().out.splitlines()
