# SPDX-License-Identifier: Apache-2.0
"""The synthetic census has the papers' shape, the hospital is plausible, and a seed means the same table everywhere."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.microdata import synthetic

# TRANSPARENT Table XII, completed by ANATOMY Table 6.
SIZES = {
    "age": 79, "gender": 2, "education": 17, "birthplace": 57, "marital": 6, "race": 9, "workclass": 10, "country": 83,
    "occupation": 50, "income": 50,
}  # fmt: skip
# TRANSPARENT Table XIV.
CORRELATION = {
    "occupation": {"age": 0.49, "gender": 0.62, "education": 0.28, "birthplace": 0.38},
    "income": {"age": 0.71, "gender": 0.87, "education": 0.41, "birthplace": 0.50},
}


@pytest.fixture(scope="module")
def people() -> dict[str, np.ndarray]:
    table = synthetic.census_table(600_000, 0)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def correlation_ratio(quasi: np.ndarray, sensitive: np.ndarray) -> float:
    """Kendall and Stuart's eta: the square root of the variance between sensitive values over all variance."""
    counts = np.bincount(sensitive)
    means = np.bincount(sensitive, quasi) / counts
    between = (counts * (means - quasi.mean()) ** 2).sum()
    return float(np.sqrt(between / ((quasi - quasi.mean()) ** 2).sum()))


def digest(table: pa.Table) -> str:
    cells = "\n".join(",".join(map(str, row.values())) for row in table.to_pylist())
    return hashlib.sha256(cells.encode()).hexdigest()[:16]


# --- the census -------------------------------------------------------------------------------------------------------


def test_the_correlation_ratio_is_one_for_a_function_and_zero_for_equal_means():
    sensitive = np.array([0, 0, 1, 1])

    assert correlation_ratio(np.array([3.0, 3.0, 5.0, 5.0]), sensitive) == 1
    assert correlation_ratio(np.array([3.0, 5.0, 3.0, 5.0]), sensitive) == 0


@pytest.mark.parametrize("seed", range(3))
def test_from_a_hundred_thousand_people_on_every_value_of_every_domain_occurs(seed):
    table = synthetic.census_table(100_000, seed)

    assert {name: pc.count_distinct(table.column(name)).as_py() for name in table.column_names} == SIZES


def test_every_attribute_is_a_run_of_small_integers(people):
    for name, values in people.items():
        low = 18 if name == "age" else 0

        assert values.dtype == np.int8
        assert (values.min(), values.max()) == (low, low + SIZES[name] - 1)


@pytest.mark.parametrize("sensitive", ["occupation", "income"])
def test_no_sensitive_value_is_as_frequent_as_one_in_twenty_and_frequencies_differ(people, sensitive):
    shares = np.bincount(people[sensitive]) / 600_000

    assert shares.max() < 0.05
    assert shares.max() > 1.5 * shares.min()


@pytest.mark.parametrize("sensitive", ["occupation", "income"])
@pytest.mark.parametrize("quasi", synthetic.TRANSPARENT_QUASI)
def test_correlation_ratios_are_near_those_of_transparent(people, quasi, sensitive):
    measured = correlation_ratio(people[quasi].astype(float), people[sensitive])

    assert measured == pytest.approx(CORRELATION[sensitive][quasi], abs=0.065)


def test_the_correlation_ratios_in_the_docstring_are_the_measured_ones(people):
    for sensitive, printed in CORRELATION.items():
        row = "  ".join(
            f"{correlation_ratio(people[quasi].astype(float), people[sensitive]):.2f} ({paper:.2f})"
            for quasi, paper in printed.items()
        )

        assert f"{sensitive:<10}  {row}" in synthetic.census.__doc__


def test_people_who_are_alike_still_have_many_likely_sensitive_values(people):
    alike = (people["gender"] == 1) & (people["education"] == 8) & (people["birthplace"] == 4) & (people["age"] < 23)

    assert 500 < alike.sum() < 10_000
    assert np.bincount(people["occupation"][alike]).max() / alike.sum() < 1 / 8
    assert np.bincount(people["income"][alike]).max() / alike.sum() < 1 / 8


def test_the_marginals_are_skewed_as_in_a_real_population(people):
    by_age = np.bincount(people["age"])[18:]
    births = np.sort(np.bincount(people["birthplace"]))[::-1]

    assert by_age[:40].sum() > 2 * by_age[40:].sum()
    assert births[0] > 40 * births[-1]
    assert births[:8].sum() > 0.4 * births.sum()
    assert np.bincount(people["education"]).argmax() == 8
    assert people["gender"][people["age"] > 80].mean() < 0.4 < people["gender"][people["age"] < 40].mean()


def test_country_and_birthplace_agree_on_who_was_born_abroad(people):
    abroad = people["birthplace"] >= 51

    assert np.array_equal(people["country"] > 0, abroad)
    assert 0.05 < abroad.mean() < 0.2
    assert all(len(np.unique(people["birthplace"][people["country"] == c])) == 1 for c in range(1, 83))


@pytest.mark.parametrize("seed", [0, 7])
def test_a_shorter_census_is_the_beginning_of_a_longer_one(seed):
    long = synthetic.census_table(3 * synthetic._CHUNK + 5, seed)

    for n in (1, 2, synthetic._CHUNK - 1, synthetic._CHUNK, synthetic._CHUNK + 1):
        assert synthetic.census_table(n, seed).equals(long.slice(0, n))


def test_a_columns_values_do_not_depend_on_which_others_were_asked_for():
    whole = synthetic.census_table(1_000, 3)

    for name in SIZES:
        assert synthetic.census_table(1_000, 3, columns=[name]).equals(whole.select([name]))


def test_seeds_give_different_people():
    assert not synthetic.census_table(100, 0).equals(synthetic.census_table(100, 1))


def test_a_seed_means_the_same_people_on_every_platform_and_in_every_version():
    assert digest(synthetic.census_table(1_000, 42)) == "068124a573304ec2"
    assert digest(synthetic.hospital_table(1_000, 42)) == "dd3d710199e37d95"


def test_the_random_words_are_those_of_the_bit_generator_itself():
    lanes = synthetic._lanes(np.random.Generator(np.random.PCG64(5)), 4, 8)
    words = np.random.PCG64(5).random_raw(8)

    assert [int(x) for x in lanes.ravel()] == [int(w) >> shift & 0xFFFF for w in words for shift in (0, 16, 32, 48)]


def test_with_78_ages_the_last_age_stands_for_two():
    plain = synthetic.census_table(50_000, 1, columns=["age"]).column("age").to_numpy()
    merged = synthetic.census_table(50_000, 1, columns=["age"], ages=78).column("age").to_numpy()

    assert np.array_equal(merged, np.minimum(plain, 95))


def test_the_census_as_microdata_has_the_roles_that_were_asked_for():
    table = synthetic.census(100_000, 0)

    assert [column.name for column in table.quasi] == ["age", "gender", "education", "birthplace"]
    assert [column.domain.size for column in table.quasi] == [79, 2, 17, 57]
    assert [(column.name, column.domain.size) for column in table.sensitive] == [("occupation", 50)]
    assert all(column.domain.kind == "integer" and column.domain.ordered for column in table.quasi)


@pytest.mark.parametrize("d", range(3, 8))
def test_the_tables_of_anatomy_are_the_first_d_of_its_attributes(d):
    table = synthetic.census(100_000, 2, sensitive="income", quasi=synthetic.ANATOMY_QUASI[:d], ages=78)

    assert [column.domain.size for column in table.quasi] == [78, 2, 17, 6, 9, 10, 83][:d]
    assert [column.name for column in table.sensitive] == ["income"]


def test_the_census_needs_no_more_memory_than_its_values():
    synthetic.census_table(1)
    tracemalloc.start()
    synthetic.census_table(1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 10 * 1_000_000 + 20_000_000


@pytest.mark.parametrize(
    "make", [synthetic.census, synthetic.census_table, synthetic.hospital, synthetic.hospital_table]
)
@pytest.mark.parametrize("wrong", [{"n": 0}, {"n": -1}, {"n": 2.5}, {"n": "ten"}, {"seed": -1}, {"seed": None}])
def test_a_wrong_size_or_seed_is_refused(make, wrong):
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be an integer >="):
        make(**wrong)


def test_wrong_choices_are_refused_with_what_is_allowed():
    with pytest.raises(ParameterError, match="sensitive must be 'occupation' or 'income', got 'salary'"):
        synthetic.census(10, sensitive="salary")
    with pytest.raises(ParameterError, match="ages must be 78 or 79, got 80"):
        synthetic.census(10, ages=80)
    with pytest.raises(SchemaError, match="did you mean 'education'"):
        synthetic.census(10, quasi=["age", "eduction"])
    with pytest.raises(SchemaError, match="did you mean 'zipcode'"):
        synthetic.hospital(10, quasi=["zip code"])


# --- the hospital -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 10, 33, 100, 101, 113, 127, 1_000, 5_003])
@pytest.mark.parametrize("seed", [0, 1])
def test_frequencies_of_diseases_do_not_depend_on_luck(n, seed):
    counts = Counter(synthetic.hospital_table(n, seed).column("disease").to_pylist())

    assert all(abs(counts[disease.name] - n * disease.share / 1000) < 1 for disease in synthetic._DISEASES)
    assert n < 100 or max(counts.values()) <= 0.12 * n


def test_the_hospital_has_fourteen_diseases_of_clearly_different_frequency():
    counts = sorted(Counter(synthetic.hospital_table(1_000).column("disease").to_pylist()).values())

    assert len(set(counts)) == len(counts) == 14
    assert counts[-1] > 4 * counts[0]


def test_diseases_go_with_age_and_sex():
    table = synthetic.hospital_table(20_000, 1)

    def of(disease: str) -> pa.Table:
        return table.filter(pc.field("disease") == disease)

    assert set(of("prostate cancer").column("sex").to_pylist()) == {"M"}
    assert pc.min(of("prostate cancer").column("age")).as_py() >= 45
    assert of("breast cancer").column("sex").to_pylist().count("F") > 0.97 * of("breast cancer").num_rows
    assert pc.mean(of("asthma").column("age")).as_py() + 20 < pc.mean(of("heart disease").column("age")).as_py()


def test_influenza_comes_in_winter_and_gastritis_all_year():
    table = synthetic.hospital_table(20_000, 1)
    winter = pc.is_in(pc.month(table.column("admitted")), pa.array([12, 1, 2]))

    def winter_share(disease: str) -> float:
        return pc.mean(winter.filter(pc.equal(table.column("disease"), disease)).cast("int8")).as_py()

    assert winter_share("influenza") > 0.4
    assert winter_share("gastritis") == pytest.approx(91 / 366, abs=0.03)
    assert set(pc.year(table.column("admitted")).to_pylist()) == {2024}


def test_zipcodes_are_texts_of_five_digits_some_of_which_begin_with_zero():
    codes = set(synthetic.hospital_table(5_000).column("zipcode").to_pylist())

    assert all(len(code) == 5 and code.isdecimal() for code in codes)
    assert {code[0] for code in codes} == {"0", "1"}
    assert 20 <= len(codes) <= 36


def test_neither_row_nor_patient_number_tells_the_disease():
    table = synthetic.hospital_table(10_000, 4)
    first, second = (Counter(table.slice(start, 5_000).column("disease").to_pylist()) for start in (0, 5_000))

    assert table.column("patient").to_pylist() == sorted(table.column("patient").to_pylist())
    assert len(set(table.column("patient").to_pylist())) == 10_000
    assert all(abs(first[d] - second[d]) < 5 * (first[d] + second[d]) ** 0.5 for d in first)


def test_the_hospital_as_microdata_names_patients_and_hides_diseases():
    table = synthetic.hospital()

    assert table.n_tuples == 1_000
    assert [column.name for column in table.quasi] == ["age", "sex", "zipcode"]
    assert [column.domain.kind for column in table.quasi] == ["integer", "category", "category"]
    assert [column.name for column in table.sensitive] == ["disease"]
    assert len(table.identifier) == 1_000
    assert table.notices == ()


def test_the_day_of_admission_may_be_a_quasi_identifier():
    assert [column.domain.kind for column in synthetic.hospital(50, quasi=["age", "admitted"]).quasi] == [
        "integer",
        "date",
    ]
