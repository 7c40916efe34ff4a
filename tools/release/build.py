"""Builds all that a release has, into one folder:

    python -m tools.release.build DIST --repository OWNER/kubeproof

- the sdist, and a wheel for this Python (those for all Pythons are built by cibuildwheel: `.github/workflows`)
- an archive for Krew with the pure-Python engine and what it needs
- the manifest for Krew and the formula for Homebrew, with the hashes of these files
- `kubeproof.cdx.json`, what the release consists of (CycloneDX), if `cyclonedx-py` is installed
- `SHA256SUMS`

Needs `pip install build cyclonedx-bom`. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
REQUIREMENTS = ROOT / "tools" / "action" / "requirements.txt"
BUNDLED = ("click", "pyyaml")  # what `kubectl proof` brings along
LAUNCHER = "kubectl-proof"
SOURCES = "https://files.pythonhosted.org/packages/source"
_PIN = re.compile(r"^([\w.-]+)==(\S+) \\\n((?:    --hash=sha256:\w+(?: \\)?\n)+)", re.MULTILINE)


def version() -> str:
    """The version that is released."""
    found: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return found


def pins(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name, version and hashes of every package of a requirements file."""
    return {name: (number, tuple(re.findall(r"sha256:(\w+)", hashes))) for name, number, hashes in _PIN.findall(text)}


def sha256(path: Path) -> str:
    """The hash that installers compare."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(*command: str, **variables: str) -> None:
    """Runs a program in the checkout; its failure is ours."""
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **variables})


def build(dist: Path, repository: str) -> None:
    """Writes everything."""
    dist.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "build", "--quiet", "--outdir", str(dist), ".")
    (sdist,) = dist.glob("kubeproof-*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        collect_libraries(Path(folder) / "lib")
        archive = pack(Path(folder) / "lib", dist / f"kubectl-proof-{version()}.tar.gz")
    write_manifests(dist, repository, sdist=sdist, archive=archive)
    write_bill(dist)
    sums = "".join(f"{sha256(path)}  {path.name}\n" for path in sorted(dist.iterdir()) if path.name != "SHA256SUMS")
    (dist / "SHA256SUMS").write_text(sums, encoding="utf-8")


def collect_libraries(lib: Path) -> None:
    """Kubeproof and what it needs, in pure Python, with hashes checked."""
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(lib))
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        known = pins(REQUIREMENTS.read_text("utf-8"))
        for name in BUNDLED:
            number, hashes = known[name]
            file.write(f"{name}=={number} {' '.join(f'--hash=sha256:{one}' for one in hashes)}\n")
    run(*install, "--require-hashes", "-r", file.name)
    os.unlink(file.name)
    run(*install, ".", KUBEPROOF_NO_EXTENSION="1")
    shutil.rmtree(lib / "bin", ignore_errors=True)
    for compiled in (*lib.rglob("*.so"), *lib.rglob("*.pyd")):
        compiled.unlink()


def pack(lib: Path, archive: Path) -> Path:
    """The archive of a plug-in: the launcher, the licence, the libraries; the same bytes for the same files."""
    members = [(DEPLOY / "krew" / LAUNCHER, LAUNCHER), (ROOT / "LICENSE", "LICENSE")]
    members += [(path, f"lib/{path.relative_to(lib)}") for path in sorted(lib.rglob("*")) if path.is_file()]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path, name in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode = path.stat().st_size, 0o755 if name == LAUNCHER else 0o644
            tar.addfile(info, io.BytesIO(path.read_bytes()))
    archive.write_bytes(gzip.compress(content.getvalue(), mtime=0))
    return archive


def write_manifests(dist: Path, repository: str, *, sdist: Path, archive: Path) -> None:
    """The formula and the plug-in manifest, with names and hashes of the files beside them."""
    known = {
        "repository": repository, "version": version(), "sdist": sdist.name, "sdist_sha256": sha256(sdist),
        "krew": archive.name, "krew_sha256": sha256(archive), "resources": "\n".join(resources()),
    }  # fmt: skip
    for template in (DEPLOY / "homebrew" / "kubeproof.rb.in", DEPLOY / "krew" / "proof.yaml.in"):
        (dist / template.stem).write_text(template.read_text("utf-8").format(**known), encoding="utf-8")


def resources() -> Iterator[str]:
    """What the formula builds from source, with the hash that the requirements know as well."""
    known = pins(REQUIREMENTS.read_text("utf-8"))
    hashes = dict(line.split()[::-1] for line in (DEPLOY / "homebrew" / "sources.txt").read_text().splitlines())
    for name in BUNDLED:
        file = f"{name}-{known[name][0]}.tar.gz"
        url = f"{SOURCES}/{name[0]}/{name}/{file}"
        yield f'  resource "{name}" do\n    url "{url}"\n    sha256 "{hashes[file]}"\n  end\n'


def write_bill(dist: Path) -> None:
    """The bill of materials of an environment with Kubeproof and what it needs, if the tool for it is there."""
    if shutil.which("cyclonedx-py") is None:
        print("no bill of materials: pip install cyclonedx-bom", file=sys.stderr)
        return
    bill = dist / "kubeproof.cdx.json"
    run("cyclonedx-py", "requirements", str(REQUIREMENTS), "--pyproject", "pyproject.toml", "-o", str(bill))


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description="Build a release.")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--repository", required=True, help="OWNER/NAME on the forge")
    chosen = parser.parse_args()
    build(chosen.dist.resolve(), chosen.repository)


if __name__ == "__main__":
    main()
