"""The laws for perturbed generalization: its promises are about beliefs, its groups look at no sensitive value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import memory
from glasshouse.journeys.recheck import recheck
from glasshouse.principles.principle import Requirement
from tests.laws.disguises import DISGUISES
from tests.laws.people import SENSITIVE, People, people
from tests.laws.publishing import assert_lawful, examples, published
from tests.laws.samples import PERTURBED, TARGETS, RecodingSample
from tests.laws.test_kernels import all_interpreted
from tests.laws.test_leaks import ROLES, STRAYS, assert_no_stray, bytes_of, sources

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # an observed domain promises nothing


def outcome(table: gh.Microdata, **choices: Any) -> Any:
    try:
        return published(table, **choices).files
    except gh.Infeasible as refusal:
        return str(refusal)


@st.composite
def tables(draw: st.DrawFn) -> People:
    """Tables with enough values for the beliefs that are bounded."""
    return draw(people(least=6, occurring=SENSITIVE[:4], identifier=draw(st.booleans())))


@pytest.mark.parametrize("recoding", PERTURBED, ids=repr)
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@examples(30)
@given(data=st.data(), seed=st.integers(0, 3))
def test_one_person_of_every_group_of_k_is_published_with_a_value_of_the_domain(
    recoding: RecodingSample, target: Any, data: st.DataObject, seed: int
) -> None:
    table = data.draw(tables())

    made = published(table.read(), principle=target, recoding=recoding.recoding, seed=seed)

    assert_lawful(table, made, {}, recoding)
    assert min(map(len, made.partition)) >= target.k
    domain = recoding.recoding.domain or set(table.columns["sensitive"])
    assert set(made.release.data["sensitive"].to_pylist()) <= set(domain)
    assert (made.release.guarantee.adversary == "corrupting") == (recoding.recoding.domain is not None)


@pytest.mark.parametrize("disguise", DISGUISES)
@examples(30)
@given(data=st.data(), recoding=st.sampled_from(PERTURBED), target=st.sampled_from(TARGETS))
def test_a_table_in_other_clothes_is_published_byte_by_byte_alike(
    disguise: str, data: st.DataObject, recoding: RecodingSample, target: Any
) -> None:
    table = data.draw(tables())
    choices = {"principle": target, "recoding": recoding.recoding, "seed": data.draw(st.integers(0, 3))}
    choices["format"] = data.draw(st.sampled_from(["parquet", "csv"]))

    expected = outcome(table.read(), **choices)

    assert expected == outcome(table.read(DISGUISES[disguise](table, data.draw)), **choices)


@examples(60)
@given(data=st.data(), recoding=st.sampled_from(PERTURBED), target=st.sampled_from(TARGETS))
def test_neither_who_has_which_value_nor_threads_nor_kernels_change_a_byte(
    data: st.DataObject, recoding: RecodingSample, target: Any
) -> None:
    table = data.draw(tables())
    choices = {"principle": target, "recoding": recoding.recoding, "seed": 1}
    made = published(table.read(), **choices)
    values = list(table.columns["sensitive"])
    for group in made.partition:
        for row, other in zip(group, data.draw(st.permutations(group)), strict=True):
            values[row] = table.columns["sensitive"][other]

    assert made.files == published(table.with_columns({"sensitive": values}).read(), **choices).files
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "PIECE", data.draw(st.integers(0, 12)))
        assert made.files == published(table.read(), **{**choices, "threads": 3}).files
    with all_interpreted():
        assert made.files == published(table.read(), **choices).files


@examples(40)
@given(data=st.data(), target=st.sampled_from(TARGETS), seed=st.integers(0, 3))
def test_renaming_sensitive_values_in_their_order_changes_nothing_but_the_names(
    data: st.DataObject, target: Any, seed: int
) -> None:
    table = data.draw(people(least=6, gaps=False, occurring=SENSITIVE[:4]))
    names = {value: f"T{value[1:]} renamed" for value in SENSITIVE}
    renamed = table.with_columns({"sensitive": [names[value] for value in table.columns["sensitive"]]})

    one, other = (
        published(t.read(), principle=target, recoding=gh.Perturbed(p="1/20", domain=domain), seed=seed).release.data
        for t, domain in ((table, SENSITIVE), (renamed, list(names.values())))
    )

    assert [names[value] for value in one["sensitive"].to_pylist()] == other["sensitive"].to_pylist()
    assert one.drop_columns(["sensitive"]) == other.drop_columns(["sensitive"])


@pytest.mark.parametrize("format", ["parquet", "csv"])
@examples(20)
@given(data=st.data(), recoding=st.sampled_from(PERTURBED))
def test_what_is_loaded_is_what_was_saved(
    format: str, data: st.DataObject, recoding: RecodingSample, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = data.draw(tables())
    folder: Path = tmp_path_factory.mktemp("saved")
    release = gh.publish(table.read(), principle=TARGETS[0], recoding=recoding.recoding, threads=1)
    release.save(folder / "release", format=format)

    loaded = gh.load(folder / "release")

    assert release.data.to_pylist() == loaded.data.to_pylist()
    assert (release.recipe, release.guarantee, release.columns) == (loaded.recipe, loaded.guarantee, loaded.columns)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("door", ["pandas", "arrow", "parquet", "frame parquet", "csv"])
@pytest.mark.parametrize("domain", [None, ["flu", "ulcer", "gout", "cold", "never seen"]], ids=["observed", "declared"])
def test_no_byte_of_a_release_tells_what_was_not_published(domain: Any, door: str, format: str, tmp_path: Path) -> None:
    table = gh.read(sources(tmp_path)[door], **ROLES)

    release = gh.publish(
        table, out=tmp_path / "out", principle=TARGETS[1], recoding=gh.Perturbed(p="0.01", domain=domain), format=format
    )

    files = bytes_of(tmp_path / "out" / "release")
    assert {"README.md", "datapackage.json", f"data.{format}"} == set(files)
    assert_no_stray(files, [*STRAYS, "999983", str(tmp_path)])
    assert ["age", "city", "disease", "G"] == release.data.column_names


def test_a_sample_that_was_tampered_with_is_noticed() -> None:
    table = gh.read({"age": list(range(8)), "s": list("abcdabcd")}, quasi=["age"], sensitive="s")
    release = gh.publish(table, principle=TARGETS[0], recoding=gh.Perturbed(domain=list("abcd")))
    requirement = Requirement.of(TARGETS[0].grouping(), table)
    data = release.data

    def with_column(name: str, values: list[Any]) -> gh.Release:
        changed = data.set_column(data.column_names.index(name), name, pa.array(values))
        return replace(release, tables={"data": changed})

    recheck(release, requirement)
    sizes = data["G"].to_pylist()
    for broken in (
        with_column("G", [sizes[0] + 1, *sizes[1:]]),
        with_column("G", [1, sizes[0] + sizes[1] - 1, *sizes[2:]]),
        with_column("age", [data["age"][0].as_py()] * len(sizes)),
        replace(release, tables={"data": data.slice(1)}),
    ):
        with pytest.raises(gh.GuaranteeBroken):
            recheck(broken, requirement)
