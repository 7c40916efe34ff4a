"""Raises the version, and turns the fragments of the change log into its next section:

    python -m tools.release.version 0.2.0

Writes `pyproject.toml`, `src/kubeproof/__init__.py`, `CHANGELOG.md`, pages and manifests that name the version; removes
the fragments. Needs `pip install towncrier`. The commit and its tag are yours.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {  # where the version stands, and how
    "pyproject.toml": r'^version = "{}"$',
    "src/kubeproof/__init__.py": r'^__version__ = "{}"$',
    "docs/how-to/use-in-ci.md": r"^  rev: v{}$",
    "docs/how-to/install-without-a-compiler.md": r"^ok  kubeproof +{}$",
    "deploy/pipelines/argocd-presync.yaml": r"kubeproof:{}",
    "deploy/monitor/kubernetes.yaml": r"kubeproof:{}",
    "deploy/admit/kubernetes.yaml": r"kubeproof:{}",
}
NUMBER = r"\d+\.\d+\.\d+"


def raise_version(version: str, root: Path = ROOT) -> None:
    """Writes the version wherever it stands; each place must have it exactly once."""
    for name, line in PLACES.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        found = re.findall(line.format(NUMBER), text, re.MULTILINE)
        if len(found) != 1:
            raise SystemExit(f"{name} has {len(found)} lines with a version, where one is expected")
        path.write_text(text.replace(found[0], re.sub(NUMBER, version, found[0])), encoding="utf-8")


def main() -> int:
    """Reads the argument, writes the files, tells what is left to do."""
    parser = argparse.ArgumentParser(description="Raise the version and write the change log.")
    parser.add_argument("version")
    version = parser.parse_args().version
    if not re.fullmatch(NUMBER, version):
        raise SystemExit(f"{version} is no version: write 0.2.0")
    raise_version(version)
    build = ["towncrier", "build", "--yes", "--version", version, "--date", date.today().isoformat()]
    code = subprocess.run([sys.executable, "-m", *build], cwd=ROOT, check=False).returncode
    print(f"Read CHANGELOG.md and docs/how-to/upgrade.md, run the tests, commit, and tag v{version}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
