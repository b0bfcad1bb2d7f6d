"""Compiles the kernels, which are plain Python files with Cython types; everything else is in pyproject.toml.

Kernels call each other, so either all of them are compiled or none is (no C compiler, no headers): the same files then
run interpreted. They use the stable interface of Python 3.11, so one compiled file serves every later Python too.

A kernel that was compiled before from the same files in the same way is taken from a folder of the user,
``~/.cache/glasshouse/kernels``. The variable GLASSHOUSE_KERNEL_CACHE names another one; empty, it names none.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

SOURCE, BUILT = Path("src"), Path("build/kernels")
SHARED = "glasshouse.kernels._cyutility"  # Cython's own code for arrays, compiled once instead of in every kernel
KERNELS = sorted(SOURCE.rglob("_*kernels.py"), key=lambda path: -path.stat().st_size)  # the longest first
FLAGS = ["-g0", "-fno-strict-aliasing"]
STRIP = ["-Wl,-s"] if sys.platform == "linux" else []
IS_STABLE = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
STABLE = {"define_macros": [("Py_LIMITED_API", "0x030B0000")], "py_limited_api": True} if IS_STABLE else {}
DIRECTIVES = {
    "language_level": "3",
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "freethreading_compatible": True,
}
KEPT = 90 * 86_400  # seconds after which a kernel that nobody used leaves the cache


def extension(name: str, source: Path, level: str) -> Extension:
    return Extension(
        name, [source.as_posix()], extra_compile_args=[level, *FLAGS], extra_link_args=STRIP, optional=True, **STABLE
    )


def extensions() -> list[Extension]:
    kernels = [extension(".".join(path.relative_to(SOURCE).with_suffix("").parts), path, "-O3") for path in KERNELS]
    return [extension(SHARED, BUILT / "_cyutility.c", "-O1"), *kernels]


class Cache:
    """Compiled kernels of this user, each under a hash of everything that it was made from."""

    def __init__(self, commands: list[str]) -> None:
        self.folder = self._folder()
        parts = [path.read_bytes() for path in (Path("setup.py"), *sorted(SOURCE.rglob("*.pxd")))]
        try:
            told = subprocess.run([*commands[:1], "--version"], capture_output=True, check=False).stdout
        except OSError:  # there is no compiler, which compiling will tell
            told = b""
        python = f"{sys.implementation.cache_tag} {sysconfig.get_config_var('EXT_SUFFIX')} {version('cython')}"
        self.common = b"\0".join([*parts, told, python.encode(), *map(str.encode, commands)])

    @staticmethod
    def _folder() -> Path | None:
        """The folder, if it is this user's own and nobody else can write to it: what lies there will be run."""
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        named = os.environ.get("GLASSHOUSE_KERNEL_CACHE", f"{home}/glasshouse/kernels")
        if not named:
            return None
        folder = Path(named).expanduser()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
        except (OSError, RuntimeError):
            return None
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            return None
        return folder

    def place(self, ext: Extension) -> Path | None:
        """Where the compiled kernel lies, or will lie."""
        if self.folder is None:
            return None
        (source,) = map(Path, ext.sources)
        own = source.read_bytes() if source.is_relative_to(SOURCE) else b""
        key = hashlib.sha256(b"\0".join([self.common, ext.name.encode(), own])).hexdigest()
        return self.folder / f"{key}.so"

    def keep(self, compiled: Path, place: Path) -> None:
        """Put a compiled kernel there, whole or not at all; and take out what nobody has used for long."""
        try:
            with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
                file.write(compiled.read_bytes())
            Path(file.name).replace(place)
            for old in place.parent.iterdir():
                if time.time() - old.stat().st_mtime > KEPT:
                    old.unlink()
        except OSError:
            return


class KernelsIfPossible(build_ext):
    """Compiles on all cores; if a kernel cannot be compiled, leaves all of them out, and says so."""

    def initialize_options(self) -> None:
        """Begin with the usual options."""
        super().initialize_options()
        self.parallel = True
        self.failed: list[str] = []

    def get_source_files(self) -> list[str]:
        """What belongs into a source distribution: nothing that was made from something else."""
        return [name for name in super().get_source_files() if Path(name).is_relative_to(SOURCE)]

    def build_extensions(self) -> None:
        """Compile all kernels, or none; those that were compiled before are taken from the cache."""
        commands = [*getattr(self.compiler, "compiler_so", []), "linking"]
        if hasattr(self.compiler, "linker_so"):  # where this Python has its own libraries is nothing to others
            self.compiler.linker_so = [part for part in self.compiler.linker_so if not part.startswith("-Wl,-rpath")]
            commands += self.compiler.linker_so
        cache, every = Cache(commands), self.extensions
        places = {ext.name: cache.place(ext) for ext in every}
        self.extensions = [ext for ext in every if not self._fetched(ext, places[ext.name])]
        if self.extensions:
            self._translate(self.extensions)
            super().build_extensions()
        for ext in self.extensions if not self.failed else ():
            if place := places[ext.name]:
                cache.keep(Path(self.get_ext_fullpath(ext.name)), place)
        self.extensions = every
        if self.failed:
            self.warn(f"the kernels run interpreted, for not all could be compiled: {'; '.join(self.failed)}")
            for ext in every:
                Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)

    def _fetched(self, ext: Extension, place: Path | None) -> bool:
        """Take a compiled kernel from the cache, if it is there."""
        if place is None or not place.is_file():
            return False
        compiled = Path(self.get_ext_fullpath(ext.name))
        compiled.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place, compiled)
        compiled.chmod(0o755)
        place.touch()
        return True

    def _translate(self, some: list[Extension]) -> None:
        """Have Cython write the C files of kernels."""
        from Cython.Build import cythonize

        BUILT.mkdir(parents=True, exist_ok=True)
        written = cythonize(
            some,
            nthreads=os.cpu_count() or 1,
            include_path=[SOURCE.as_posix()],
            compiler_directives=DIRECTIVES,
            build_dir=BUILT.as_posix(),
            shared_utility_qualified_name=SHARED,
        )
        sources = {ext.name: ext.sources for ext in written}
        for ext in some:
            ext.sources = sources[ext.name]

    def build_extension(self, ext: Extension) -> None:
        """Compile a kernel."""
        try:
            super().build_extension(ext)
        except (OSError, BaseError, CCompilerError) as error:
            self.failed.append(f"{ext.name}: {error}")

    def copy_extensions_to_source(self) -> None:
        """Put the kernels beside their sources, in place of all that were compiled earlier or for another Python."""
        for path in [*KERNELS, SOURCE.joinpath(*SHARED.split("."))]:
            for old in (*path.parent.glob(f"{path.stem}.*.so"), *path.parent.glob(f"{path.stem}.*.pyd")):
                old.unlink()
        super().copy_extensions_to_source()


if __name__ == "__main__":  # processes that help Cython read this file too
    setup(
        cmdclass={"build_ext": KernelsIfPossible},
        ext_modules=extensions(),
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if IS_STABLE else {},
    )
