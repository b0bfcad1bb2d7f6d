"""A bare Debian in a folder: Python, and nothing else of this machine.

debootstrap makes it from the mirror that this machine's apt uses, which needs root. Inside there is no network but
loopback: what shall be installed is fetched outside, for the Python that is inside.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["HOME", "VENV", "WHEELS", "Bare", "bare_system"]

PACKAGES = "python3,python3-venv,ca-certificates"
WHEELS, VENV, HOME = "/wheels", "/venv", "/newcomer"  # inside


@dataclass(frozen=True)
class Bare:
    """A system in a folder."""

    root: Path
    shown: Mapping[Path, str] = field(default_factory=dict)
    """Folders of this machine that are visible inside, and where."""

    @property
    def named(self) -> str:
        """What it is: its Python and its Debian."""
        debian = self.run("sed", "-n", "s/^PRETTY_NAME=//p", "/etc/os-release").strip().strip('"')
        return f"{self.run('python3', '--version').strip()} in a bare {debian}"

    def run(self, *command: str, text: str = "") -> str:
        """Run a command in there, and give what it printed."""
        found = self._started(command, text, subprocess.PIPE)
        if found.returncode:
            raise SystemExit(f"{shlex.join(command)} failed with {found.returncode}:\n{found.stdout}")
        return found.stdout

    def succeeds(self, *command: str) -> bool:
        """Run a command in there that prints to this terminal; whether it succeeded."""
        return self._started(command, "", None).returncode == 0

    def _started(self, command: tuple[str, ...], text: str, out: int | None) -> subprocess.CompletedProcess[str]:
        """Only the variables of a new user are set; what is mounted goes away with the process."""
        variables = {"HOME": HOME, "PATH": f"{VENV}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "120"}
        begin = ["ip link set lo up", shlex.join(["mount", "-t", "proc", "proc", str(self.root / "proc")])]
        begin += [
            shlex.join(["mount", "--rbind", str(outside), str(self.root / inside[1:])])
            for outside, inside in {Path("/dev"): "/dev", **self.shown}.items()
        ]
        inside = shlex.join(["chroot", str(self.root), "env", "--chdir", HOME, *command])
        return subprocess.run(
            ["unshare", "--mount", "--net", "sh", "-c", " && ".join([*begin, f"exec {inside}"])],
            env=variables | {"PATH": f"{variables['PATH']}:/usr/sbin:/sbin"},
            input=text,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def install(self, *what: str) -> None:
        """Fetch wheels, and what they need, for the Python that is in there, and install them there."""
        version = self.run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        wanted = ["--python-version", version, "--only-binary", ":all:", "--dest", self.root / WHEELS[1:], *what]
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "pip", "download", *quiet, *wanted], check=True)
        if not (self.root / VENV[1:]).exists():
            self.run("python3", "-m", "venv", VENV)
        names = [f"{WHEELS}/{Path(one).name}" if one.endswith(".whl") else one for one in what]
        self.run("pip", "install", *quiet, "--no-index", "--find-links", WHEELS, *names)


@contextmanager
def bare_system(debian: str = "", shown: Mapping[Path, str] | None = None) -> Iterator[Bare]:
    """Make a bare system with this Debian, or with that of this machine, for a while."""
    if os.geteuid() or not shutil.which("apt-get"):
        raise SystemExit("a bare Debian is made by root, on a machine with apt")
    needed = [
        package
        for package, program in {"debootstrap": "debootstrap", "iproute2": "ip"}.items()
        if not shutil.which(program)
    ]
    if needed:
        quiet = {"stdout": subprocess.DEVNULL, "check": True}
        subprocess.run(["apt-get", "update", "-qq"], **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *needed], **quiet)
    address, name = _mirror()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root"
        made = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", debian or name, root, address]
        subprocess.run(made, stdout=subprocess.DEVNULL, check=True)
        for folder in (WHEELS, HOME, *(shown or {}).values()):
            (root / folder[1:]).mkdir(parents=True, exist_ok=True)
        yield Bare(root, shown or {})


def _mirror() -> tuple[str, str]:
    """Where this machine's apt fetches Debian from, and the name of this machine's Debian."""
    name = platform.freedesktop_os_release()["VERSION_CODENAME"]
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"]
    for line in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        address, codename = line.split()
        if codename == name:
            return address, name
    raise SystemExit(f"apt of this machine names no mirror of Debian {name}")
