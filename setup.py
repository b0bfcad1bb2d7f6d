"""Compiles the kernels, which are plain Python files with Cython types; everything else is in pyproject.toml.

A kernel that cannot be compiled (no C compiler, no headers) is left out: the same file then runs interpreted.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

SOURCE = Path("src")
KERNELS = sorted(SOURCE.rglob("_*kernels.py"))

extensions = [
    Extension(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts),
        [path.as_posix()],
        extra_compile_args=["-O3", "-fno-strict-aliasing"],
    )
    for path in KERNELS
]


class KernelsIfPossible(build_ext):
    """Compiles on all cores; leaves out what cannot be compiled, and says so."""

    def initialize_options(self) -> None:
        """Begin with the usual options."""
        super().initialize_options()
        self.parallel = True

    def build_extension(self, ext: Extension) -> None:
        """Compile a kernel."""
        ext.optional = True  # in place of a file that is not there nothing is copied
        try:
            super().build_extension(ext)
        except (OSError, BaseError, CCompilerError) as error:
            self.warn(f"{ext.name} is not compiled, and runs interpreted: {error}")


setup(
    cmdclass={"build_ext": KernelsIfPossible},
    ext_modules=cythonize(
        extensions,
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": True,
        },
        build_dir="build/kernels",
    ),
)
