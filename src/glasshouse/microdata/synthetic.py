# SPDX-License-Identifier: Apache-2.0
"""Synthetic tables about people who do not exist: a census in the papers' shape, and a hospital.

The papers' own census extracts (OCC and SAL, from IPUMS) may not be passed on. `census` stands in for them: it has
their attributes, their domain sizes and about their correlations, and as many people as one likes. As in the papers
("All attributes have integer domains", TRANSPARENT 4.1) its values are integers. Shapes of curves compare with the
papers; absolute numbers do not. `hospital` is a small table with readable values, for examples and demonstrations.

Everything is drawn from tables of whole numbers with the words of ``numpy.random.PCG64``: the same seed gives the same
table on every platform. The seed protects nothing and need not: synthetic people have no secrets.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.microdata.table import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from glasshouse.microdata.table import Microdata

    Integers = NDArray[np.integer[Any]]

__all__ = ["ANATOMY_QUASI", "TRANSPARENT_QUASI", "census", "census_table", "hospital", "hospital_table"]

TRANSPARENT_QUASI = ("age", "gender", "education", "birthplace")
"""The quasi-identifiers of TRANSPARENT Table XII; 79, 2, 17 and 57 values."""

ANATOMY_QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
"""The quasi-identifiers of ANATOMY Table 6 (OCC-d and SAL-d have the first d); 78, 2, 17, 6, 9, 10 and 83 values."""

_CENSUS = (*TRANSPARENT_QUASI, "marital", "race", "workclass", "country", "occupation", "income")


def census(
    n: int = 600_000,
    seed: int = 0,
    sensitive: Literal["occupation", "income"] = "occupation",
    *,
    quasi: Sequence[str] = TRANSPARENT_QUASI,
    ages: int = 79,
) -> Microdata:
    """Make a census: ``n`` adults with integer attributes, ready to be published.

    Parameters
    ----------
    n
        How many people. The papers have 600,000 (TRANSPARENT) and 500,000 (ANATOMY).
    seed
        The same seed gives the same people; a shorter table is the beginning of a longer one.
    sensitive
        ``occupation`` (the papers' OCC) or ``income`` (their SAL, in 50 steps); 50 values each, none above 5 %.
    quasi
        Quasi-identifiers: those of TRANSPARENT Table XII by default, ``ANATOMY_QUASI[:d]`` for ANATOMY's OCC-d and
        SAL-d, or any others of `census_table`.
    ages
        How many ages there are: 79 as in TRANSPARENT, or 78 as in ANATOMY and ANGEL, where the last stands for two.

    Notes
    -----
    *Correlation.* TRANSPARENT Table XIV gives correlation ratios (Kendall and Stuart) between quasi-identifiers and
    sensitive attributes, and does not say which explains which. They are read here as the part of a quasi-identifier's
    spread that is explained by the sensitive value, ``sqrt(Var(E[Q | S]) / Var(Q))``. The other direction cannot be
    meant: for income its squares add up to 1.68, where attributes that are nearly independent can reach 1 together.
    Measured at 600,000 people, with the paper's in brackets:

    ==========  ===========  ===========  ===========  ===========
    ..          age          gender       education    birthplace
    ==========  ===========  ===========  ===========  ===========
    occupation  0.49 (0.49)  0.62 (0.62)  0.28 (0.28)  0.38 (0.38)
    income      0.65 (0.71)  0.87 (0.87)  0.38 (0.41)  0.47 (0.50)
    ==========  ===========  ===========  ===========  ===========

    *Model.* Age comes from a population pyramid; gender and education depend on it; birthplace (states of very
    different size, regions abroad) does not. A person then takes one of 50 sensitive values. Half of them are mostly
    women's, half mostly men's. Within its half each value leans towards an age, a level of education and a birthplace;
    a person takes one of those that suit best, the popular ones more often. Even people who are alike in all four have
    eleven likely values or more, which keeps the papers' ell of 6 to 10 within reach. This is why income stays a
    little below the paper.

    *Cost.* Ten million people: less than a second of processor time in `census_table`, and a byte a value.

    Examples
    --------
    >>> census(1_000).n_tuples
    1000
    >>> [column.name for column in census(1_000, sensitive="income", quasi=ANATOMY_QUASI[:3], ages=78).quasi]
    ['age', 'gender', 'education']
    """
    if sensitive not in ("occupation", "income"):
        raise ParameterError("census", "sensitive", "'occupation' or 'income'", sensitive)
    table = census_table(n, seed, columns=[*quasi, sensitive], ages=ages)
    return read(table, quasi=list(quasi), sensitive=sensitive, categorical=[sensitive])


def census_table(n: int = 600_000, seed: int = 0, *, columns: Iterable[str] = _CENSUS, ages: int = 79) -> pa.Table:
    """Make the plain table behind `census`: small integers, one row a person.

    The columns, with their domain sizes in TRANSPARENT Table XII and ANATOMY Table 6: age (18 to 96; 79 or 78), gender
    (2: women 0, men 1), education (17, ascending), birthplace (57: states, then regions abroad), marital (6), race (9),
    workclass (10), country (83: the United States 0), occupation (50), income (50, ascending). From 100,000 people on,
    every value occurs. A column's values do not depend on which others were asked for.

    >>> census_table(3, columns=["age", "income"]).schema.names
    ['age', 'income']
    """
    _check_size("census", n, seed)
    if ages not in (78, 79):
        raise ParameterError("census", "ages", "78 or 79", ages)
    wanted = list(dict.fromkeys(columns))
    for name in wanted:
        if name not in _CENSUS:
            raise SchemaError.unknown(name, _CENSUS, role="a column of the census")

    people = {name: np.empty(n, np.int8) for name in wanted}
    generator = np.random.Generator(np.random.PCG64(seed))
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        drawn = _draw_people(_lanes(generator, stop - start, _LANES), wanted)
        for name, values in drawn.items():
            people[name][start:stop] = values
    if "age" in people:
        np.minimum(people["age"], ages - 1, out=people["age"])
        people["age"] += _YOUNGEST
    return pa.table(people)


# --- drawing ----------------------------------------------------------------------------------------------------------

_CHUNK = 1 << 15  # people drawn at a time: their words and codes stay in the processor's cache
_LANES = 12  # 16-bit lanes of random bits a person: 9 used, rounded up to whole 64-bit words
_FINE = 16  # bits of a lane that choose from a distribution with very rare values
_COARSE = 12  # bits that choose from one of many conditional distributions, whose tables should stay small


def _lanes(generator: np.random.Generator, n: int, lanes: int) -> NDArray[np.uint16]:
    """Draw 16 random bits a lane, person after person, so that a longer table begins like a shorter one."""
    # All 2**64 values: these are the bit generator's own words, whose stream NumPy promises to keep.
    words = generator.integers(0, 2**64, size=n * lanes // 4, dtype=np.uint64)
    return words.astype("<u8", copy=False).view("<u2").reshape(n, lanes)


def _urn(weights: ArrayLike, bits: int, kind: type[np.integer[Any]] = np.int8) -> Integers:
    """Turn whole-number weights into a lookup table, in which each value fills its share of the slots.

    One row of ``2**bits`` slots per row of weights, all rows in one flat array.
    """
    table = np.atleast_2d(np.asarray(weights, np.int64))
    slots = 1 << bits
    ends = np.cumsum(table, axis=1) * slots // table.sum(axis=1, keepdims=True)
    counts = np.diff(ends, axis=1, prepend=0)
    return np.repeat(np.tile(np.arange(table.shape[1], dtype=kind), len(table)), counts.ravel())


def _pick(urn: Integers, lane: NDArray[np.uint16], row: Integers | None = None) -> Integers:
    """Draw a value for each person from an urn: from the only row, or from each person's own."""
    if row is None:
        return urn.take(lane)
    return urn.take((row << _COARSE) + (lane >> (16 - _COARSE)))


def _draw_people(lanes: NDArray[np.uint16], wanted: Sequence[str]) -> dict[str, Integers]:
    """Draw the wanted attributes of some people, each from a lane of its own; age as a code that starts at 0."""
    model = _census_model()
    age = _pick(model.age, lanes[:, 0])
    band, generation = model.band.take(age), model.generation.take(age)
    gender = _pick(model.gender, lanes[:, 1], band)
    education = _pick(model.education, lanes[:, 2], generation)
    origin = _pick(model.origin, lanes[:, 3])
    people = {"age": age, "gender": gender, "education": education}
    if "birthplace" in wanted:
        people["birthplace"] = model.birthplace.take(origin)
    if "country" in wanted:
        people["country"] = model.country.take(origin)
    if "marital" in wanted:
        people["marital"] = _pick(model.marital, lanes[:, 4], generation * 2 + gender)
    if "race" in wanted:
        people["race"] = _pick(model.race, lanes[:, 5], model.region.take(origin))
    if "workclass" in wanted:
        people["workclass"] = _pick(model.workclass, lanes[:, 6], generation)
    if "occupation" in wanted or "income" in wanted:
        cell = (band * 2 + gender) * _N_SCHOOLINGS + model.schooling.take(education)
        cell = cell * _N_PLACES + model.place.take(origin)
        if "occupation" in wanted:
            people["occupation"] = _pick(model.occupation, lanes[:, 7], cell)
        if "income" in wanted:
            people["income"] = _pick(model.income, lanes[:, 8], cell)
    return {name: people[name] for name in wanted}


# --- the census: weights in whole numbers -----------------------------------------------------------------------------

_YOUNGEST = 18
_N_AGES = 79
_N_VALUES = 50  # of occupation, and of income

# A weight for each of five years of age, from 18 on; women of 1000 in those five years.
_PYRAMID = (92, 90, 96, 110, 118, 114, 100, 84, 66, 54, 48, 42, 32, 20, 9, 3)
_WOMEN = (490, 492, 498, 500, 502, 504, 508, 514, 520, 532, 548, 568, 596, 630, 670, 710)
_N_BANDS = len(_PYRAMID)
# Four generations (18 to 22, to 42, to 62, above), as bands of five years.
_GENERATIONS = (0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3)

# By generation: none, grades up to 4, 6, 8, 9, 10, 11, 12, high school, college begun (less, more than a year),
# associate (two kinds), bachelor, master, professional, doctorate.
_EDUCATION = (
    (4, 3, 5, 10, 18, 30, 60, 50, 330, 170, 250, 20, 25, 22, 2, 1, 1),
    (8, 6, 14, 14, 16, 22, 28, 32, 270, 80, 150, 42, 52, 186, 58, 14, 8),
    (9, 6, 14, 18, 16, 24, 26, 24, 290, 70, 145, 44, 46, 160, 76, 20, 12),
    (14, 12, 24, 84, 44, 54, 44, 24, 330, 56, 110, 24, 20, 94, 44, 14, 8),
)
_SCHOOLINGS = (0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5)  # education in six classes
_N_SCHOOLINGS = 6

# Fifty states and the capital, of about their real, very different sizes; regions abroad and the countries in each
# (Latin America, Asia, Europe, Africa, North America, Oceania), the first countries much larger than the last.
# fmt: off
_STATES = (17, 3, 20, 10, 128, 16, 13, 3, 3, 40, 28, 5, 6, 49, 24, 12, 11, 17, 18, 5, 21, 26, 40, 20, 12, 22,
           4, 7, 6, 5, 32, 8, 74, 30, 3, 46, 14, 11, 50, 4, 15, 3, 23, 80, 10, 2, 27, 21, 8, 22, 2)
# fmt: on
_REGIONS = (72, 36, 22, 6, 5, 2)
_COUNTRIES = (24, 24, 22, 7, 2, 3)
_N_PLACES = 8  # classes of birthplaces, of about equal shares

# By generation and gender: married, married but apart, separated, divorced, widowed, never married.
_MARITAL = (
    ((190, 16, 12, 12, 2, 768), (90, 12, 6, 6, 1, 885)),
    ((590, 20, 34, 100, 8, 248), (560, 20, 22, 78, 4, 316)),
    ((660, 16, 26, 170, 50, 78), (730, 16, 18, 140, 14, 82)),
    ((420, 14, 10, 82, 430, 44), (730, 16, 10, 74, 128, 42)),
)
# By region of birth (the United States, then abroad as above): nine races.
_RACE = (
    (780, 124, 12, 3, 3, 8, 24, 38, 8),
    (430, 60, 12, 2, 2, 4, 420, 56, 14),
    (60, 6, 2, 220, 60, 610, 10, 24, 8),
    (930, 16, 2, 2, 2, 4, 20, 20, 4),
    (300, 620, 2, 4, 2, 20, 20, 26, 6),
    (880, 50, 12, 6, 4, 10, 14, 20, 4),
    (400, 20, 8, 10, 12, 420, 60, 50, 20),
)
# By generation: private firm, non-profit, self-employed, own company, federal, state and local government,
# unpaid in the family, looking for work, none.
_WORKCLASS = (
    (590, 34, 14, 4, 12, 26, 30, 6, 74, 210),
    (570, 54, 48, 24, 26, 38, 52, 3, 37, 148),
    (500, 58, 68, 36, 32, 42, 62, 3, 25, 174),
    (120, 22, 36, 14, 6, 8, 14, 4, 6, 770),
)


@dataclass(frozen=True, kw_only=True)
class _Ties:
    """How a sensitive attribute hangs together with the quasi-identifiers; found by search, see `census`."""

    own: int  # people of 1000 who take a value of their own gender's half
    suited: int  # values of the 25 in a half that suit a person
    leaning: tuple[int, int, int]  # how much age, education and birthplace decide what suits
    popularity: tuple[int, int]  # weight of the least and of the most popular value that suits
    stray: int  # weight of a value that does not suit
    stride: int  # codes are scattered by this stride; 1 keeps the order of the model


_OCCUPATION = _Ties(own=810, suited=14, leaning=(100, 56, 71), popularity=(200, 400), stray=5, stride=21)
_INCOME = _Ties(own=935, suited=11, leaning=(100, 52, 61), popularity=(200, 240), stray=1, stride=1)


@dataclass(frozen=True, kw_only=True)
class _Model:
    """Urns to draw from, and the classes on which the urns depend."""

    age: Integers
    gender: Integers  # by band
    education: Integers  # by generation
    origin: Integers  # a state or a country
    marital: Integers  # by generation and gender
    race: Integers  # by region
    workclass: Integers  # by generation
    occupation: Integers  # by band, gender, schooling and place
    income: Integers  # by the same
    band: NDArray[np.intp]  # of an age
    generation: NDArray[np.intp]  # of an age
    schooling: NDArray[np.intp]  # of an education
    birthplace: NDArray[np.int8]  # of an origin
    country: NDArray[np.int8]  # of an origin
    region: NDArray[np.intp]  # of an origin
    place: NDArray[np.intp]  # of an origin


@functools.cache
def _census_model() -> _Model:
    """Build every urn once; whole numbers throughout, so that rounding is the same everywhere."""
    band = np.arange(_N_AGES) // 5
    ages = np.array(_PYRAMID)[band]
    generation = np.array(_GENERATIONS)[band]
    education = np.array(_EDUCATION)
    schooling = np.array(_SCHOOLINGS)

    abroad = np.repeat(np.arange(len(_REGIONS)), _COUNTRIES)  # region of each country
    ranks = np.concatenate([np.arange(1, count + 1) for count in _COUNTRIES])
    sizes = 10**6 // ranks
    whole = np.bincount(abroad, sizes).astype(np.int64)
    origins = np.concatenate([np.array(_STATES) * 10**6, np.array(_REGIONS)[abroad] * 10**6 * sizes // whole[abroad]])
    birthplace = np.concatenate([np.arange(len(_STATES)), len(_STATES) + abroad])
    country = np.concatenate([np.zeros(len(_STATES), np.int64), np.arange(1, len(abroad) + 1)])
    region = np.concatenate([np.zeros(len(_STATES), np.int64), 1 + abroad])

    births = np.array([*_STATES, *_REGIONS])
    place = (_midranks(births) + 1000) * _N_PLACES // 2001
    schooled = (ages[:, None] * education[generation] * 1000 // education.sum(axis=1)[generation][:, None]).sum(axis=0)
    positions = (
        _class_midranks(ages, band, _N_BANDS),
        _class_midranks(schooled, schooling, _N_SCHOOLINGS),
        _class_midranks(births, place, _N_PLACES),
    )
    women = np.array(_WOMEN)
    return _Model(
        age=_urn(ages, _FINE),
        gender=_urn(np.stack([women, 1000 - women], axis=1), _COARSE),
        education=_urn(education, _COARSE),
        origin=_urn(origins, _FINE, np.uint8),
        marital=_urn(np.concatenate(_MARITAL), _COARSE),
        race=_urn(_RACE, _COARSE),
        workclass=_urn(_WORKCLASS, _COARSE),
        occupation=_sensitive_urn(_OCCUPATION, positions),
        income=_sensitive_urn(_INCOME, positions),
        band=band.astype(np.intp),
        generation=generation.astype(np.intp),
        schooling=schooling.astype(np.intp),
        birthplace=birthplace.astype(np.int8),
        country=country.astype(np.int8),
        region=region.astype(np.intp),
        place=place[birthplace].astype(np.intp),
    )


def _midranks(weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """The middle rank of each value if people are sorted by value: from -1000 to 1000."""
    places: NDArray[np.int64] = (2 * np.cumsum(weights) - weights) * 1000 // weights.sum() - 1000
    return places


def _class_midranks(weights: NDArray[np.int64], classes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Do the same for classes of consecutive values."""
    return _midranks(np.bincount(classes, weights, minlength=n_classes).astype(np.int64))


def _sensitive_urn(ties: _Ties, positions: tuple[NDArray[np.int64], ...]) -> Integers:
    """One row of slots per band, gender, schooling and place; see the model in `census`."""
    half = _N_VALUES // 2
    index = np.arange(half)
    # Leanings lie on a lattice: evenly along each attribute, and evenly together.
    leanings = [((index * step) % half - half // 2) * tie for step, tie in zip((1, 7, 11), ties.leaning, strict=True)]
    band, schooling, place = (np.multiply.outer(x, leaning) for x, leaning in zip(positions, leanings, strict=True))
    fit = band[:, None, None] + schooling[None, :, None] + place[None, None, :]  # bands x schoolings x places x values
    rank = np.argsort(np.argsort(-fit, axis=-1, kind="stable"), axis=-1, kind="stable")

    low, high = ties.popularity
    popularity = low + (high - low) * ((7 * np.arange(_N_VALUES)) % 10) // 9
    weights = np.empty((_N_BANDS, 2, _N_SCHOOLINGS, _N_PLACES, _N_VALUES), np.int64)
    for whose in (0, 1):
        values = slice(whose * half, (whose + 1) * half)
        suited = np.where(rank < ties.suited, popularity[values], ties.stray)
        shares = suited * 10**6 // suited.sum(axis=-1, keepdims=True)
        weights[:, whose, :, :, values] = ties.own * shares
        weights[:, 1 - whose, :, :, values] = (1000 - ties.own) * shares
    codes = (np.arange(_N_VALUES) * ties.stride % _N_VALUES).astype(np.int8)
    return codes.take(_urn(weights.reshape(-1, _N_VALUES), _COARSE))


# --- the hospital -----------------------------------------------------------------------------------------------------


def hospital(n: int = 1_000, seed: int = 0, *, quasi: Sequence[str] = ("age", "sex", "zipcode")) -> Microdata:
    """Make a hospital's patients: one admission each, with a disease that must not be learned.

    The identifier is the patient's number, the sensitive column the disease: fourteen of clearly different frequency,
    from 11.2 % down to 2.6 % but for rounding, so that 8-diversity is possible. Diseases go with age and sex as one
    expects; the zip code, a text that may begin with zero, is no help.

    >>> hospital(100)
    Microdata(100 records; quasi-identifiers age (60), sex (2), zipcode (28); sensitive disease (14))
    """
    columns = ["patient", *quasi, "disease"]
    table = hospital_table(n, seed)
    for name in quasi:
        if name not in table.column_names:
            raise SchemaError.unknown(name, table.column_names, role="a quasi-identifier")
    return read(table.select(columns), identifier="patient", quasi=list(quasi), sensitive="disease")


def hospital_table(n: int = 1_000, seed: int = 0) -> pa.Table:
    """Make the plain table behind `hospital`: patient, age, sex, zipcode (text), admitted (a day of 2024), disease.

    >>> hospital_table(2).schema.names
    ['patient', 'age', 'sex', 'zipcode', 'admitted', 'disease']
    """
    _check_size("hospital", n, seed)
    # Quotas, not draws: a frequency that must stay below 1/ell should not depend on luck.
    shares = np.array([disease.share for disease in _DISEASES])
    quota = np.diff(np.cumsum(shares) * n // shares.sum(), prepend=0)
    generator = np.random.Generator(np.random.PCG64(seed))
    lanes = _lanes(generator, n, 8)
    # Row order and patient numbers say nothing of the disease: half of each patient's lanes shuffle.
    order = np.lexsort(lanes[:, 4:].T)
    disease = np.repeat(np.arange(len(_DISEASES)), quota)[order]

    sex = _pick(_urn([(d.women, 100 - d.women) for d in _DISEASES], _COARSE), lanes[:, 0], disease)
    age = _pick(_urn([_ages_of(d) for d in _DISEASES], _COARSE), lanes[:, 1], disease)
    zipcode = _pick(_urn(1000 // np.arange(1, len(_ZIPCODES) + 1), _FINE), lanes[:, 2])
    days = [np.repeat(_WINTER if d.in_winter else [1] * 12, _DAYS) for d in _DISEASES]
    day = _pick(_urn(days, _COARSE, np.int16), lanes[:, 3], disease)
    number = pc.utf8_lpad(pa.array(np.arange(1, n + 1)).cast(pa.string()), 6, "0")
    return pa.table(
        {
            "patient": pc.binary_join_element_wise("P", number, ""),
            "age": pa.array(age.astype(np.int64)),
            "sex": pa.array(["F", "M"]).take(pa.array(sex)),
            "zipcode": pa.array(_ZIPCODES).take(pa.array(zipcode)),
            "admitted": pa.array((np.datetime64("2024-01-01") + day).astype("datetime64[D]")),
            "disease": pa.array([d.name for d in _DISEASES]).take(pa.array(disease)),
        }
    )


@dataclass(frozen=True)
class _Disease:
    """The statistics of a disease: cases in 1000 patients, women in 100 cases, youngest, usual, oldest age, season."""

    name: str
    share: int
    women: int
    ages: tuple[int, int, int]
    in_winter: bool = False


_DISEASES = (
    _Disease("influenza", 112, 52, (0, 28, 95), in_winter=True),
    _Disease("pneumonia", 104, 48, (0, 70, 98), in_winter=True),
    _Disease("bronchitis", 96, 50, (0, 60, 95), in_winter=True),
    _Disease("hypertension", 90, 50, (30, 64, 96)),
    _Disease("diabetes", 84, 47, (12, 60, 92)),
    _Disease("gastritis", 80, 51, (10, 42, 90)),
    _Disease("asthma", 76, 58, (0, 14, 80)),
    _Disease("heart disease", 72, 40, (35, 74, 98)),
    _Disease("arthritis", 66, 62, (25, 68, 96)),
    _Disease("depression", 60, 63, (14, 36, 88)),
    _Disease("migraine", 54, 74, (10, 32, 75)),
    _Disease("breast cancer", 44, 99, (28, 60, 92)),
    _Disease("prostate cancer", 36, 0, (48, 70, 95)),
    _Disease("HIV", 26, 24, (18, 38, 74)),
)
_ZIPCODES = tuple(f"{area}{digit}" for digit in range(6) for area in ("0185", "0213", "0214", "0244", "0303", "1054"))
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # of the months of 2024
_WINTER = (16, 15, 11, 7, 5, 4, 4, 4, 5, 7, 10, 12)  # weight of a day, by month


def _ages_of(disease: _Disease) -> NDArray[np.int64]:
    """Weights of ages 0 to 99: a triangle from the youngest over the usual to the oldest."""
    youngest, usual, oldest = disease.ages
    age = np.arange(100)
    rising = (age - youngest + 1) * (oldest - usual + 1)
    falling = (oldest - age + 1) * (usual - youngest + 1)
    return np.maximum(np.minimum(rising, falling), 0)


def _check_size(owner: str, n: int, seed: int) -> None:
    if not isinstance(n, int | np.integer) or n < 1:
        raise ParameterError(owner, "n", "an integer >= 1", n)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(owner, "seed", "an integer >= 0", seed)
