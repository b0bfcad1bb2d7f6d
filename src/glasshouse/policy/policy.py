# SPDX-License-Identifier: Apache-2.0
"""Policy: what a team decided about publishing a table; read from a file, checked, and ready to publish by."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import GlasshouseError, InputError, ParameterError
from glasshouse.policy import choices as chosen
from glasshouse.policy.document import read_document
from glasshouse.policy.keys import TABLES, check_secrets, choices_of, keys_of, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from glasshouse.microdata import Microdata
    from glasshouse.policy.document import Document, Keys

__all__ = ["Policy", "load_policy"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """Everything that publishing a table needs. It holds no data and no secret, and can be kept with a team's code.

    Parameters
    ----------
    path
        The file that it was read from.
    choices
        What was decided, by the names of the command line's options; what is not there was left open.
    """

    path: Path
    choices: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Policy({self.path.name!r}: {', '.join(sorted(self.choices))})"

    @property
    def source(self) -> str:
        """The table's file."""
        if "file" not in self.choices:
            raise InputError(f"{self.path} names no table: write file = ... in [source]")
        return str(self.choices["file"])

    @property
    def out(self) -> Path:
        """The folder that gets ``release`` and ``audit``."""
        if "out" not in self.choices:
            raise InputError(f"{self.path} names no folder to write to: write out = ... in [release]")
        return Path(self.choices["out"])

    def read_arguments(self) -> dict[str, Any]:
        """The keyword arguments of `glasshouse.read`."""
        return chosen.read_arguments(self.choices, _key)

    def read(self) -> Microdata:
        """Read the table with the roles that the policy gives its columns."""
        from glasshouse.microdata import read

        return read(self.source, **self.read_arguments())

    def publish_arguments(self) -> dict[str, Any]:
        """The keyword arguments of `glasshouse.publish`, but for the table and the folder."""
        return chosen.publish_arguments(self.choices, _key)


def load_policy(path: str | Path) -> Policy:
    """Read a policy from a TOML file, and check everything that can be checked without the table.

    Unknown keys are refused, and so is anything that looks like a password. Paths are relative to the policy's folder.

    Raises
    ------
    PolicyError
        With the line and the column of what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "policy.toml")
    ...     _ = file.write_text('[roles]\\nquasi = ["age"]\\nsensitive = "disease"\\n[principle]\\nell = 3\\n')
    ...     policy = load_policy(file)
    >>> policy.publish_arguments()["principle"], policy.read_arguments()["quasi"]
    (LDiversity(ell=3), ['age'])
    """
    document = read_document(path)
    check_secrets(document)
    choices = choices_of(document)
    _check_parameters(document, choices)
    _check_objects(document, choices)
    return Policy(path=document.path, choices=choices)


def _key(choice: str) -> str:
    """The name of a choice in a policy."""
    return ".".join(keys_of(choice))


def _check_parameters(document: Document, choices: Mapping[str, Any]) -> None:
    """Check that methods and recodings exist, and have the given parameters."""
    rooms: tuple[tuple[str, str, catalog.Classes[Any]], ...] = (
        ("method", "parameters", catalog.METHODS),
        ("recoding", "recoding_with", catalog.RECODINGS),
    )
    for table, parameters, classes in rooms:
        name = choices.get(table)
        if name is None:
            if choices.get(parameters):
                first = next(iter(choices[parameters]))
                document.refuse(
                    (table, first), f"[{table}] has the parameter {first[:60]!r} and no name: add name = ..."
                )
            continue
        if name not in classes:
            refuse_unknown(document, (table, "name"), f"{table} {name[:60]!r}", name, classes)
        known = [field.name for field in fields(classes[name])]
        for parameter in choices.get(parameters, ()):
            if parameter not in known:
                what = f"setting {parameter[:60]!r} in [{table}], nor such a parameter of {name!r}"
                refuse_unknown(document, (table, parameter), what, parameter, [*TABLES[table], *known])


def _check_objects(document: Document, choices: Mapping[str, Any]) -> None:
    """Make the objects of the policy, so that an error is found now, with its position."""
    for key in ("taxonomy", "bins"):
        for column, text in choices.get(key, {}).items():
            with _pointing(document, ("columns", column, key)):
                chosen.taxonomy(text, key)
    with _pointing(document, ("method",)):
        chosen.method(choices, _key)
    with _pointing(document, ("recoding",)):
        chosen.recoding(choices, _key)
    if "principle" in document.data:
        of_columns = [name for name, key in TABLES["principle"].items() if isinstance(choices.get(key.choice), dict)]
        with _pointing(document, ("principle", *of_columns[:1])):
            chosen.principle(choices, _key)
    if "suppress" in choices:
        from glasshouse.principles.parameters import exact_share

        with _pointing(document, ("release", "suppress")):
            exact_share(choices["suppress"])


@contextmanager
def _pointing(document: Document, keys: Keys) -> Iterator[None]:
    """Make errors point at the table of the policy that they come from, or at the parameter that they name."""
    try:
        yield
    except ParameterError as error:
        inner = (*keys, error.name.rstrip("_"))
        document.refuse(inner if inner in document.places else keys, str(error))
    except (GlasshouseError, TypeError, ValueError, AttributeError) as error:
        problem = str(error) if isinstance(error, GlasshouseError) else _settings(keys)
        document.refuse(keys, problem)


def _settings(keys: Keys) -> str:
    return (
        f"the settings in [{keys[0]}] cannot be used as they are: check the kind of each value (a number, a text or a "
        "list), and whether each setting belongs to this section (see glasshouse publish --help)"
    )
