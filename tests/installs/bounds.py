"""The lowest versions that pyproject.toml promises to work with, as constraints for pip."""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement

from tests.installs.environments import ROOT

__all__ = ["lowest", "requirements"]


def requirements(extras: list[str]) -> list[Requirement]:
    """What the package needs with some extras; an extra that names others stands for these too.

    >>> sorted(r.name for r in requirements(["studio"]) if r.name in ("numpy", "starlette"))
    ['numpy', 'starlette']
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [Requirement(text) for text in project["dependencies"]]
    waiting, seen = list(extras), set[str]()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for text in project["optional-dependencies"][extra]:
            requirement = Requirement(text)
            if requirement.name == project["name"]:
                waiting += requirement.extras
            else:
                found.append(requirement)
    return found


def lowest(extras: list[str]) -> list[str]:
    """The lower bounds as exact versions: lines of a constraints file.

    >>> [line for line in lowest(["yaml"]) if line.startswith("pyyaml")]
    ['pyyaml==6']
    """
    lines = set()
    for requirement in requirements(extras):
        for bound in requirement.specifier:
            if bound.operator == ">=":
                lines.add(f"{requirement.name}=={bound.version}")
    return sorted(lines)
