"""Compiles the kernels, which are plain Python files with Cython types; everything else is in pyproject.toml.

Kernels call each other, so either all of them are compiled or none is (no C compiler, no headers): the same files then
run interpreted.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

SOURCE, BUILT = Path("src"), Path("build/kernels")
SHARED = "glasshouse.kernels._cyutility"  # Cython's own code for arrays, compiled once instead of in every kernel
KERNELS = sorted(SOURCE.rglob("_*kernels.py"))

extensions = [
    Extension(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts),
        [path.as_posix()],
        extra_compile_args=["-O3", "-g0", "-fno-strict-aliasing"],
    )
    for path in KERNELS
]
extensions.append(Extension(SHARED, [(BUILT / "_cyutility.c").as_posix()]))
BUILT.mkdir(parents=True, exist_ok=True)


class KernelsIfPossible(build_ext):
    """Compiles on all cores; if a kernel cannot be compiled, leaves all of them out, and says so."""

    def initialize_options(self) -> None:
        """Begin with the usual options."""
        super().initialize_options()
        self.parallel = True
        self.failed: list[str] = []

    def build_extensions(self) -> None:
        """Compile all kernels, or none."""
        super().build_extensions()
        if self.failed:
            self.warn(f"the kernels run interpreted, for not all could be compiled: {'; '.join(self.failed)}")
            for ext in self.extensions:
                Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)

    def build_extension(self, ext: Extension) -> None:
        """Compile a kernel."""
        ext.optional = True  # in place of a file that is not there nothing is copied
        try:
            super().build_extension(ext)
        except (OSError, BaseError, CCompilerError) as error:
            self.failed.append(f"{ext.name}: {error}")


setup(
    cmdclass={"build_ext": KernelsIfPossible},
    ext_modules=cythonize(
        extensions,
        include_path=[SOURCE.as_posix()],
        compiler_directives={
            "language_level": "3",
            "infer_types": True,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": True,
        },
        build_dir=BUILT.as_posix(),
        shared_utility_qualified_name=SHARED,
    ),
)
