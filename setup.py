"""Compiles the kernels, which are plain Python files with Cython types; everything else is in pyproject.toml.

A kernel that cannot be compiled (no C compiler, no headers) is left out: the same file then runs interpreted.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCE = Path("src")
KERNELS = sorted(SOURCE.rglob("_*kernels.py"))

extensions = [
    Extension(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts),
        [path.as_posix()],
        extra_compile_args=["-O3", "-fno-strict-aliasing"],
        optional=True,
    )
    for path in KERNELS
]

setup(
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
    )
)
