# SPDX-License-Identifier: Apache-2.0
"""What one column holds, and the role that its name and its values suggest.

Words tell a role, and numbers say when values do: rules of thumb all of them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.domains import Column, code, text_of
from glasshouse.microdata.inspection.uniqueness import n_unique, percent, share

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = [
    "NAMES",
    "NUMBERS",
    "PERSONAL",
    "QUASI",
    "SENSITIVE",
    "WEIGHTS",
    "ColumnReport",
    "Match",
    "Measured",
    "first_match",
    "measure",
    "with_roles",
]

Role = Literal["identifier", "quasi", "sensitive", "leave out"]

NEARLY_DISTINCT = 0.95  # share of different values from which text or whole numbers look like a key
HARDLY_REPEATS = 0.3  # the same for a column that is called a number or a key: a person may have several rows
FINGERPRINT = 0.1  # share of rows from which a column of unknown meaning singles out too many alone
FREE_TEXT_WORDS = 8  # mean number of words in a value from which a column is prose


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnReport:
    """What one column holds, and the role suggested for it.

    Parameters
    ----------
    name, kind
        The column, and its type in plain words: integer, float, date, timestamp, boolean, category; text where
        hardly a value repeats or the values are prose; empty where there is none.
    n_tuples, missing
        Rows of the table, and rows in which this column has no value.
    distinct
        Different values, missing not counted.
    most_frequent, most_frequent_count
        The most frequent value (the first in order, on a tie) and its rows. The value is never in the ``repr``.
    unique
        Rows whose value no other row has; missing counts as a value.
    role, reason
        ``identifier``, ``quasi``, ``sensitive`` or ``leave out``; and why, in a phrase.
    """

    name: str
    kind: str
    n_tuples: int
    missing: int
    distinct: int
    most_frequent: bool | int | float | str | None = field(repr=False)
    most_frequent_count: int
    unique: int
    role: Role = "leave out"
    reason: str = ""

    @property
    def most_frequent_share(self) -> float:
        """Share of rows with the most frequent value."""
        return share(self.most_frequent_count, self.n_tuples)

    @property
    def unique_share(self) -> float:
        """Share of rows that this column singles out alone."""
        return share(self.unique, self.n_tuples)

    @property
    def distinct_share(self) -> float:
        """Different values per row that has one: 1 if no value repeats."""
        return share(self.distinct, self.n_tuples - self.missing)

    @property
    def is_amount(self) -> bool:
        """Whether it holds numbers or times, which must be binned before they can be a sensitive value."""
        return self.kind in ("integer", "float", "date", "timestamp")

    @property
    def largest_ell(self) -> int:
        """The largest ell for which the whole table is l-diverse by frequency here, missing a value; 0 without rows."""
        return self.n_tuples // max(self.most_frequent_count, self.missing, 1)

    @property
    def largest_ell_complete(self) -> int:
        """The same for the rows that have a value; 0 if none has."""
        return (self.n_tuples - self.missing) // max(self.most_frequent_count, 1)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; it holds the most frequent value."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "most_frequent_share": self.most_frequent_share, "unique_share": self.unique_share}


class Measured(NamedTuple):
    """A column's report, still without a role; its codes; and whether its values are prose."""

    report: ColumnReport
    column: Column
    is_prose: bool


def measure(name: str, values: pa.Array) -> Measured:
    """Code one column and count its values; a column without a single value is of kind ``empty``.

    >>> report = measure("sex", pa.array(["F", "M", "F", None])).report
    >>> report.distinct, report.missing, report.unique
    (2, 1, 2)
    """
    empty = pa.types.is_null(values.type)
    column = code(values.cast(pa.string()) if empty else values, name=name, missing=values.null_count > 0)
    domain = column.domain
    counts = np.bincount(column.codes, minlength=domain.missing_code + 1)
    present = counts[: domain.missing_code]
    top = int(present.argmax()) if len(present) else None
    report = ColumnReport(
        name=name,
        kind="empty" if empty else domain.kind,
        n_tuples=len(values),
        missing=int(counts[domain.missing_code]),
        distinct=len(present),
        most_frequent=None if top is None else _plain(domain.values, top),
        most_frequent_count=0 if top is None else int(present[top]),
        unique=n_unique(counts),
    )
    blanks = pc.mean(pc.count_substring(domain.values, " ")).as_py() if domain.kind == "category" else None
    is_prose = blanks is not None and blanks + 1 >= FREE_TEXT_WORDS
    if domain.kind == "category" and (is_prose or _nearly_distinct(report)):
        report = replace(report, kind="text")
    return Measured(report, column, is_prose)


def with_roles(measured: Sequence[Measured], *, sensitive: str | None) -> tuple[list[ColumnReport], str | None]:
    """Suggest a role for each column; return the reports and the sensitive column, the named or else the likeliest."""
    topics = {m.report.name: topic for m in measured if (topic := _topic(m)) is not None}
    chosen = sensitive or _likeliest([m.report for m in measured], topics)
    reports = []
    for m in measured:
        role, reason = _role(m, topics.get(m.report.name))
        if m.report.name == sensitive:
            role, reason = "sensitive", "named as the sensitive column"
        elif role == "sensitive" and topics[m.report.name].name == "work" and m.report.name != chosen:
            role, reason = "quasi", f"others may know it ({topics[m.report.name].piece!r})"
        reports.append(replace(m.report, role=role, reason=reason))
    return reports, chosen


class _Topic(NamedTuple):
    """The sensitive topic that a column's name tells of, and the piece of the name that does."""

    name: str
    piece: str


def _topic(m: Measured) -> _Topic | None:
    """Find the sensitive topic that a name tells of, unless an earlier word wins or the values cannot be protected."""
    name, kind = m.report.name, m.report.kind
    if m.is_prose or m.report.distinct < 2 or kind in ("date", "timestamp") or first_match(name, PERSONAL):
        return None
    known = first_match(name, QUASI)
    for topic, words in SENSITIVE.items():
        found = first_match(name, words)
        if found and (known is None or found.position < known.position):
            return _Topic(topic, found.piece)
    return None


def _likeliest(reports: Sequence[ColumnReport], topics: dict[str, _Topic]) -> str | None:
    """Choose the column to protect: one that can be l-diverse at all, that needs no bins, and of the gravest topic."""
    gravity = list(SENSITIVE)

    def preference(report: ColumnReport) -> tuple[bool, bool, int, int, str]:
        ell, grave = report.largest_ell, gravity.index(topics[report.name].name)
        return (ell < 2, report.is_amount, grave, -ell, report.name)

    likeliest = min((report for report in reports if report.name in topics), key=preference, default=None)
    return likeliest.name if likeliest else None


def _role(m: Measured, topic: _Topic | None) -> tuple[Role, str]:
    """Suggest a role: first by what the values rule out, then by words, then by what the values suggest."""
    report, name = m.report, m.report.name
    if report.distinct == 0:
        return "leave out", "no value at all"
    if found := first_match(name, PERSONAL):
        return "identifier", f"names or reaches a person ({found.piece!r})"
    if report.distinct == 1:
        return "leave out", "one value only"
    if m.is_prose:
        return "leave out", "free text: cannot be generalised, may name people"
    if topic:
        return "sensitive", f"{topic.name} ({topic.piece!r})"
    if found := first_match(name, QUASI):
        return "quasi", f"others may know it ({found.piece!r})"
    if found := first_match(name, NAMES):
        return "identifier", f"names a person ({found.piece!r})"
    found = first_match(name, NUMBERS)
    if found and report.kind in ("integer", "category", "text") and report.distinct_share >= HARDLY_REPEATS:
        return "identifier", f"a number of people ({found.piece!r}), hardly repeats"
    return _role_by_values(report)


def _role_by_values(report: ColumnReport) -> tuple[Role, str]:
    """Suggest a role for a column whose name says nothing."""
    if report.kind in ("date", "timestamp"):
        return "quasi", f"a {report.kind}: others may know it"
    if report.kind in ("text", "integer") and _nearly_distinct(report):
        return "identifier", "no value repeats" if report.distinct_share == 1 else "hardly any value repeats"
    if report.unique_share >= FINGERPRINT:
        return "leave out", f"meaning unknown, singles out {percent(report.unique_share)} of rows alone"
    return "quasi", "meaning unknown: others may know it"


def _nearly_distinct(report: ColumnReport) -> bool:
    return report.distinct > 1 and report.distinct_share >= NEARLY_DISTINCT


def _plain(values: pa.Array, index: int) -> bool | int | float | str:
    """Show one value as JSON can hold it: finite numbers, truth values and text as they are, the rest as text."""
    kind = values.type
    if str(kind).startswith(("timestamp[ns", "time64[ns")):  # Python counts microseconds
        shorter = pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)
        value = values.slice(index, 1).cast(shorter, safe=False)[0].as_py()
    else:
        value = values[index].as_py()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str) else text_of(value)


# --- words in a column's name that tell its role: plain data, meant to be read and extended ---------------------------
#
# How a word matches. A column's name is cut at separators and where capitals begin (``patientZIP_code`` gives
# *patient*, *zip*, *code*); accents and capitals are ignored. A word matches a whole piece, or two or three neighbours
# written together (*zipcode*); a word with a star matches how they begin (``diagnos*``: diagnosis, Diagnose,
# diagnostico). English, German, French, Spanish, Italian and Portuguese words stand side by side: lists this short need
# no language.
#
# Which list wins. `PERSONAL` says identity whatever else the name holds. Then the leftmost word of `QUASI` and
# `SENSITIVE` decides (*age at diagnosis* is an age, *diagnosis date* a diagnosis). `NAMES` and `NUMBERS` come last, for
# *country name* is a country and *diagnosis code* a diagnosis.

PERSONAL = """
    ssn socialsecurity* nationalid* taxid passport* driverslicen* licenceplate* licenseplate* kennzeichen
    email* mail phone* telephone* telefon* telefono* mobile fax iban creditcard* accountn* kontonummer ipaddress url
    surname lastname familyname firstname forename givenname fullname maidenname nachname vorname nom prenom
    apellido* cognome sobrenome address* adresse* direccion* indirizzo* street* strasse* mrn medicalrecord*
    insurancenumber* versichertennummer steuernummer dni nif cpf nir
"""
"""Direct identifiers: each names or reaches one person, however often it repeats."""

QUASI = """
    age alter edad eta idade birth* born dob geburt* naissance* nacimiento* nascita* nascimento*
    sex gender geschlecht sexe sexo sesso genero genre
    zip* postcode* postal* plz postleitzahl* cap cep city town village municipal* county state region* provin* district*
    suburb stadt gemeinde* bundesland kreis ville commune departement ciudad* municipio* citta cidade* residen* wohnort
    location latitude longitude country* nation* citizen* land pays pais paese staatsang*
    race ethnic* ancestry origin hispanic* herkunft* language* sprache langue idioma lingua
    education* degree school* studies bildung* abschluss* etudes educacion* istruzione escolaridade
    marital* married spouse familienstand estadocivil etatcivil statocivile relationship household* children
    kinder enfants hijos figli filhos
    employer* workclass veteran* military height
    hospital* ward admission* admitted discharge* death* deceased*
"""
"""What a neighbour, an employer or a public register knows about a person."""

SENSITIVE = {
    "health": """
        disease* diagnos* icd icd9 icd10 illness* sickness* condition* symptom* disorder* medication* drug* treatment*
        therap* prescription* procedure* surgery hiv cancer* tumo* disab* pregnan* addiction* genetic* mutation*
        krankheit* medikament* behandlung* maladie* traitement* enfermedad* tratamiento* malattia* doenca*
    """,
    "conviction": """
        relig* faith konfession* politic* party partei vote* voting ideolog* orientation* union gewerkschaft* syndicat*
        crime* criminal* offence* offense* arrest* conviction* delit* straftat*
    """,
    "money": """
        salar* income* wage* earning* payroll capitalgain* capitalloss* dividend* debt* loan*
        credit* wealth asset* bankrupt* gehalt* einkommen* lohn* vermogen* schuld*
        revenu* sueldo* ingreso* renta stipendio reddito renda
    """,
    "work": """
        occupation* profession* job beruf* metier ocupacion* ocupacao* occupazione
    """,
}
"""What must not be learned about a person, by topic, the gravest first. Work is on both sides: sensitive where the
table holds nothing better to protect, and a quasi-identifier otherwise."""

NAMES = """
    name nombre nome username login
"""
"""Names of people, unless a word above says of what they are the name."""

NUMBERS = """
    id ids uid uuid guid pid key number num nr numero nummer record* code index
    person individual respondent* patient* client* customer* member* employee*
    student* subject* user* kunde* kundennummer cliente* matricul* account*
"""
"""Numbers of people or of things: an identifier only if the values hardly repeat."""


WEIGHTS = """
    weight weights wgt wt pond* fnlwgt pspwght hochrechnung* poids peso
"""
"""Survey weights, unless it is people whose bodies are weighed."""


class Match(NamedTuple):
    """The piece of a name that matched, and where it begins."""

    position: int
    piece: str


def first_match(name: str, words: str) -> Match | None:
    """Find the leftmost piece of a column's name that one of the words matches.

    >>> first_match("dateOfBirth", QUASI)
    Match(position=2, piece='birth')
    >>> first_match("ZIP-Code", QUASI).piece, first_match("código_postal", QUASI).piece
    ('zip', 'postal')
    >>> first_match("agency", QUASI) is None
    True
    """
    pieces = _pieces(name)
    wanted = words.split()
    whole = {word for word in wanted if not word.endswith("*")}
    beginnings = tuple(word[:-1] for word in wanted if word.endswith("*"))
    for position in range(len(pieces)):
        for length in (1, 2, 3):
            piece = "".join(pieces[position : position + length])
            if piece in whole or piece.startswith(beginnings):
                return Match(position, piece)
    return None


def _pieces(name: str) -> list[str]:
    """Cut a name at its separators and where capitals begin; drop accents and capitals."""
    cut = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    bare = "".join(c for c in unicodedata.normalize("NFKD", cut) if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", bare.casefold())
