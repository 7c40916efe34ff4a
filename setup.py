"""Adds the compiled kernels to the build: optional extensions that never make an installation fail."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NAMES = ("kubeproof.engine._kernel", "kubeproof.simulate.serving._kernel")
SOURCES = {name: f"src/{name.replace('.', '/')}.pyx" for name in NAMES}


def say(reason: str) -> None:
    """Prints the one line that tells why the compiled engine is missing."""
    print(f"kubeproof: compiled engine not built ({reason}); the pure-Python engine is used", file=sys.stderr)


class OptionalBuild(build_ext):
    """Builds the extension if it can; `optional=True` alone does not cover a missing compiler everywhere."""

    failed = False

    def run(self) -> None:
        try:
            super().run()
        except (Exception, SystemExit) as problem:
            self.give_up(problem)

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (Exception, SystemExit) as problem:
            self.give_up(problem)

    def give_up(self, problem: BaseException) -> None:
        """Says so once: an editable build fails a second time when it copies what was not built."""
        if not self.failed:
            say(f"no working C compiler or no Python headers: {type(problem).__name__}")
        self.failed = True


def extensions() -> list[Extension]:
    """The extensions, or nothing when they are switched off, have no source, or cannot be translated to C."""
    if os.environ.get("KUBEPROOF_NO_EXTENSION", "") not in ("", "0"):
        say("KUBEPROOF_NO_EXTENSION is set")
        return []
    found = [Extension(name, [file], optional=True) for name, file in SOURCES.items() if Path(file).is_file()]
    if not found:
        return []
    try:
        from Cython.Build import cythonize

        return list(cythonize(found, build_dir="build/cython", quiet=True))
    except (Exception, SystemExit) as problem:
        say(f"translation to C failed: {type(problem).__name__}")
        return []


setup(ext_modules=extensions(), cmdclass={"build_ext": OptionalBuild})
