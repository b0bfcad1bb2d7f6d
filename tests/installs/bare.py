"""Do what ``docs/get-started.md`` says, in a Debian that has Python and nothing else.

    python -m tests.installs.bare            the Debian of this machine
    python -m tests.installs.bare testing    another one, with a newer Python

debootstrap makes the system in a temporary folder, from the mirror that this machine's apt uses. The wheel of ``dist/``
and what it needs are fetched outside, for the Python of that system; inside there is no network, no compiler and no
source. Every example of the page is run there in order, and must print what the page shows. This needs root and apt.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.doors.documentation.test_docs import Block, blocks_of, is_as_shown
from tests.installs.artifacts import DIST, build
from tests.installs.environments import ROOT, oldest_python

__all__ = ["main"]

PAGE = ROOT / "docs" / "get-started.md"
PACKAGES = "python3,python3-venv,ca-certificates"
COMPILERS = ("gcc", "cc", "clang", "make")
INSTALL = "pip install ."  # on the page; here the wheel is installed instead, as the page says that one may
WHEELS, VENV, HOME = "/wheels", "/venv", "/newcomer"  # inside


@dataclass(frozen=True)
class Bare:
    """A system in a folder, with nothing of this machine in it."""

    root: Path

    def run(self, *command: str, text: str = "") -> str:
        """Run a command in there, where only the variables of a new user are set; give what it printed."""
        variables = {"HOME": HOME, "PATH": f"{VENV}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "120"}
        inside = shlex.join(["chroot", str(self.root), "env", "--chdir", HOME, *command])
        mounted = f"mount -t proc proc {shlex.quote(str(self.root / 'proc'))} && exec {inside}"
        found = subprocess.run(
            ["unshare", "--mount", "--net", "sh", "-c", mounted],
            env=variables | {"PATH": f"{variables['PATH']}:/usr/sbin:/sbin"},
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if found.returncode:
            raise SystemExit(f"{shlex.join(command)} failed with {found.returncode}:\n{found.stdout}")
        return found.stdout


def mirror() -> tuple[str, str]:
    """Where this machine's apt fetches Debian from, and the name of this machine's Debian."""
    name = platform.freedesktop_os_release()["VERSION_CODENAME"]
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"]
    for line in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        address, codename = line.split()
        if codename == name:
            return address, name
    raise SystemExit(f"apt of this machine names no mirror of Debian {name}")


@contextmanager
def bare_system(debian: str) -> Iterator[Bare]:
    """Make a bare system with this Debian, or with that of this machine, for a while."""
    if os.geteuid() or not shutil.which("apt-get"):
        raise SystemExit("a bare Debian is made by root, on a machine with apt")
    if not shutil.which("debootstrap"):
        quiet = {"stdout": subprocess.DEVNULL, "check": True}
        subprocess.run(["apt-get", "update", "-qq"], **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "debootstrap"], **quiet)
    address, name = mirror()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root"
        made = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", debian or name, root, address]
        subprocess.run(made, stdout=subprocess.DEVNULL, check=True)
        for folder in (WHEELS, HOME):
            (root / folder[1:]).mkdir()
        yield Bare(root)


def fetch(wheel: Path, bare: Bare) -> None:
    """Put the wheel into a system, with the wheels that it needs on the Python that is there."""
    version = bare.run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    wanted = ["--python-version", version, "--only-binary", ":all:", "--dest", bare.root / WHEELS[1:], wheel]
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "download", *quiet, *wanted], check=True)


def followed(block: Block, wheel: Path, bare: Bare) -> str:
    """Do what an example says; give what it printed."""
    if block.language == "python":
        return bare.run("python", "-", text=block.text)
    printed = ""
    for line in block.text.splitlines():
        if line == INSTALL:
            bare.run("pip", "install", "--no-index", "--find-links", WHEELS, f"{WHEELS}/{wheel.name}")
        else:
            printed += bare.run("sh", "-c", line)
    return printed


def main() -> None:
    """Make the system, and follow the page in it."""
    debian = sys.argv[1] if len(sys.argv) > 1 else ""
    wheel = next(iter(DIST.glob("*.whl")), None) or build(oldest_python())[0]
    with bare_system(debian) as bare:
        named = bare.run("sed", "-n", "s/^PRETTY_NAME=//p", "/etc/os-release").strip()
        print(f"{bare.run('python3', '--version').strip()} in a bare {named}", flush=True)
        for name in COMPILERS:
            if shutil.which(name, path=":".join(str(bare.root / part) for part in ("usr/bin", "bin"))):
                raise SystemExit(f"the bare system has {name}, which it should not")
        fetch(wheel, bare)
        bare.run("python3", "-m", "venv", VENV)
        wrong = []
        for block in blocks_of(PAGE):
            if block.language not in ("python", "sh"):
                continue
            begun = time.monotonic()
            printed = followed(block, wheel, bare)
            print(f"line {block.line}, {time.monotonic() - begun:.1f} s: {block.text.splitlines()[0]}", flush=True)
            print(printed, end="", flush=True)
            if block.expected is not None and not is_as_shown(block.expected, printed):
                wrong.append(f"line {block.line} of {PAGE.name} shows\n{block.expected}and it printed\n{printed}")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"everything that {PAGE.name} says works, and prints what it shows")


if __name__ == "__main__":
    main()
