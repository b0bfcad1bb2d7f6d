# SPDX-License-Identifier: Apache-2.0
"""The tables of the five papers, as they are printed: every worked example starts from one of these.

One convention: a table that gives exact values for people is a `Microdata`, with its identifier, quasi-identifiers and
sensitive column; everything published, and every voter list, is a ``pyarrow.Table``. There a column is numbers when
each of its cells is a bare number, and otherwise text exactly as printed (``[21, 27]``, ``35000``, ``*``).

A function is named after the paper and its own name for the table (``transparent_t1``) or its number
(``anatomy_table2``). Where a table has parts and the number stands alone, it means the microdata, part (a):
``angel_table1`` is Table 1a.

===========  =================================================================================================
TRANSPARENT  Xiao, Tao, Koudas: Transparent Anonymization, ACM TODS 35(2), 2010
CORRUPTION   Tao, Xiao, Li, Zhang: On Anti-Corruption Privacy Preserving Publication, ICDE 2008
ANATOMY      Xiao, Tao: Anatomy: Simple and Effective Privacy Preservation, VLDB 2006
MINIMALITY   Cormode, Li, Li, Srivastava: Minimizing Minimality and Maximizing Utility, VLDB 2010
ANGEL        Tao, Chen, Xiao, Zhou, Zhang: ANGEL: Enhancing the Utility of Generalization, IEEE TKDE 21(7), 2009
===========  =================================================================================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from glasshouse.microdata.table import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata.table import Microdata

__all__ = [
    "anatomy_table1",
    "anatomy_table2",
    "anatomy_table3a",
    "anatomy_table3b",
    "anatomy_table4",
    "anatomy_table5",
    "angel_table1",
    "angel_table1b",
    "angel_table2",
    "angel_table2b",
    "angel_table2c",
    "angel_table3a",
    "angel_table3b",
    "angel_table4a",
    "angel_table4b",
    "angel_table5a",
    "angel_table5b",
    "angel_table6a",
    "angel_table6b",
    "angel_table7a",
    "angel_table7b",
    "angel_table7c",
    "angel_table8",
    "corruption_figure1",
    "corruption_table1",
    "corruption_table1b",
    "corruption_table1c",
    "corruption_table2a",
    "corruption_table2b",
    "corruption_table2c",
    "minimality_figure6a",
    "minimality_figure6a_published",
    "minimality_figure6b",
    "minimality_figure6b_published",
    "transparent_t1",
    "transparent_t2",
    "transparent_t3",
    "transparent_t4",
    "transparent_t5",
    "transparent_t6",
    "transparent_t7",
    "transparent_t8",
    "transparent_t9",
    "transparent_t9_masked",
    "transparent_t10",
    "transparent_table6a",
    "transparent_table6b",
    "transparent_table7",
    "voters_e1",
]


def _table(printed: str) -> pa.Table:
    """Take a table as it is printed: a header, then a line per row, columns two spaces apart or more."""
    header, *rows = [re.split(r"\s{2,}", line.strip()) for line in printed.strip().splitlines()]
    columns = zip(*rows, strict=True)
    return pa.table({name: _numbers_or_text(cells) for name, cells in zip(header, columns, strict=True)})


def _numbers_or_text(cells: Sequence[str]) -> pa.Array:
    return pa.array([int(cell) for cell in cells] if all(cell.isdecimal() for cell in cells) else cells)


def _microdata(printed: str, *, ordered: dict[str, list[str]] | None = None, named: bool = True) -> Microdata:
    """Read a printed table whose first column names the person (unless not ``named``) and whose last is sensitive."""
    table = _table(printed)
    identifier, quasi = (table.column_names[0], table.column_names[1:-1]) if named else (None, table.column_names[:-1])
    return read(table, identifier=identifier, quasi=quasi, sensitive=table.column_names[-1], ordered=ordered)


# --- TRANSPARENT ------------------------------------------------------------------------------------------------------


def transparent_t1() -> Microdata:
    """TRANSPARENT Table I, the microdata T1: the paper's running example; Opt-Gen turns it into `transparent_t2`.

    >>> transparent_t1()
    Microdata(8 tuples; quasi-identifiers Age (5), Zipcode (5); sensitive Disease (5))
    """
    return _microdata("""
        Name  Age  Zipcode  Disease
        Ann   21   10000    dyspepsia
        Bob   27   18000    flu
        Cate  32   35000    gastritis
        Don   32   35000    bronchitis
        Ed    54   60000    gastritis
        Fred  60   63000    flu
        Gill  60   63000    dyspepsia
        Hera  60   63000    diabetes
    """)


def voters_e1() -> pa.Table:
    """TRANSPARENT Table II, the voter list E1: everyone of T1, and Bruce, who is not in it."""
    return _table("""
        Name   Age  Zipcode
        Ann    21   10000
        Bob    27   18000
        Bruce  29   19000
        Cate   32   35000
        Don    32   35000
        Ed     54   60000
        Fred   60   63000
        Gill   60   63000
        Hera   60   63000
    """)


def transparent_t2() -> pa.Table:
    """TRANSPARENT Table III, T2*: the 2-diverse global recoding of T1 by Opt-Gen, from which Ed's disease follows."""
    return _table("""
        Age       Zipcode     Disease
        [21, 27]  [10k, 18k]  dyspepsia
        [21, 27]  [10k, 18k]  flu
        32        35000       gastritis
        32        35000       bronchitis
        [54, 60]  [60k, 63k]  gastritis
        [54, 60]  [60k, 63k]  flu
        [54, 60]  [60k, 63k]  dyspepsia
        [54, 60]  [60k, 63k]  diabetes
    """)


def transparent_t3() -> Microdata:
    """TRANSPARENT Table IV, the microdata T3: a minimality attack on `transparent_t4` finds Cate and Don."""
    return _microdata("""
        Name  Age  Zipcode  Disease
        Ann   21   10000    dyspepsia
        Bob   27   18000    flu
        Cate  32   35000    gastritis
        Don   32   35000    gastritis
        Ed    54   60000    bronchitis
        Fred  60   63000    flu
        Gill  60   63000    dyspepsia
        Hera  60   63000    diabetes
    """)


def transparent_t4() -> pa.Table:
    """TRANSPARENT Table V, T4*: a minimal 2-diverse release of T3, and what Vul-Gen gives for T1 alone (Example 1)."""
    return _table("""
        Age       Zipcode     Disease
        [21, 27]  [10k, 18k]  dyspepsia
        [21, 27]  [10k, 18k]  flu
        [32, 60]  [35k, 63k]  gastritis
        [32, 60]  [35k, 63k]  gastritis
        [32, 60]  [35k, 63k]  bronchitis
        [32, 60]  [35k, 63k]  flu
        [32, 60]  [35k, 63k]  dyspepsia
        [32, 60]  [35k, 63k]  diabetes
    """)


def transparent_table6a() -> pa.Table:
    """TRANSPARENT Table VIa: the quasi-identifier table of T1's anatomy, in the groups of T2*."""
    return _table("""
        Age  Zipcode  Group ID
        21   10000    1
        27   18000    1
        32   35000    2
        32   35000    2
        54   60000    3
        60   63000    3
        60   63000    3
        60   63000    3
    """)


def transparent_table6b() -> pa.Table:
    """TRANSPARENT Table VIb: the sensitive table of T1's anatomy, one row a tuple, in the order of values."""
    return _table("""
        Group ID  Disease
        1         dyspepsia
        1         flu
        2         bronchitis
        2         gastritis
        3         diabetes
        3         dyspepsia
        3         flu
        3         gastritis
    """)


def transparent_table7() -> Microdata:
    """TRANSPARENT Table VII: a world that is possible given E1 alone; it has Bruce, and only three people."""
    return _microdata("""
        Name   Age  Zipcode  Disease
        Bruce  29   19000    bronchitis
        Cate   32   35000    flu
        Fred   60   63000    dyspepsia
    """)


def transparent_t5() -> Microdata:
    """TRANSPARENT Table VIII, the microdata T5: what Tailor (Example 4) and Ace (Example 6) are shown on.

    The text of Example 6 once says that two tuples have bronchitis; it means gastritis (Cate and Don), as the table,
    Figure 4 and Table X have it.
    """
    return _microdata("""
        Name  Age  Zipcode  Disease
        Ann   21   10000    dyspepsia
        Bob   27   18000    flu
        Cate  32   35000    gastritis
        Don   32   35000    gastritis
        Ed    54   60000    flu
        Fred  60   63000    bronchitis
        Gill  60   63000    dyspepsia
        Hera  60   63000    diabetes
    """)


def transparent_t6() -> pa.Table:
    """TRANSPARENT Table IX, T6*: what Tailor makes of T5, and of T3, at ell = 2."""
    return _table("""
        Age       Zipcode     Disease
        [21, 32]  [10k, 35k]  dyspepsia
        [21, 32]  [10k, 35k]  flu
        [21, 32]  [10k, 35k]  gastritis
        [21, 32]  [10k, 35k]  gastritis
        [54, 60]  [60k, 63k]  flu
        [54, 60]  [60k, 63k]  bronchitis
        60        63000       dyspepsia
        60        63000       diabetes
    """)


def transparent_t7() -> pa.Table:
    """TRANSPARENT Table X, T7*: what Ace makes of T5 at ell = 2, when chance picks Don for the second bucket.

    The groups are {Ann, Bob}, {Ed, Gill}, {Don, Fred} and {Cate, Hera}; the last two have the same box.
    """
    return _table("""
        Age       Zipcode     Disease
        [21, 27]  [10k, 18k]  dyspepsia
        [21, 27]  [10k, 18k]  flu
        [54, 60]  [60k, 63k]  dyspepsia
        [54, 60]  [60k, 63k]  flu
        [32, 60]  [35k, 63k]  gastritis
        [32, 60]  [35k, 63k]  bronchitis
        [32, 60]  [35k, 63k]  diabetes
        [32, 60]  [35k, 63k]  gastritis
    """)


def transparent_t8() -> Microdata:
    """TRANSPARENT Table XI, the microdata T8: T5 with dyspepsia and flu exchanged, so that buckets are symmetric."""
    return _microdata("""
        Name  Age  Zipcode  Disease
        Ann   21   10000    flu
        Bob   27   18000    dyspepsia
        Cate  32   35000    gastritis
        Don   32   35000    gastritis
        Ed    54   60000    dyspepsia
        Fred  60   63000    bronchitis
        Gill  60   63000    flu
        Hera  60   63000    diabetes
    """)


def transparent_t9() -> Microdata:
    """TRANSPARENT appendix Table I, the microdata T9: Mask is attacked on it, with k = ell = 2 and V = {dyspepsia}."""
    return _microdata("""
        Name  Age  Disease
        Ann   21   dyspepsia
        Bob   27   dyspepsia
        Cate  32   dyspepsia
        Don   32   flu
        Ed    54   flu
        Fred  60   flu
        Gill  60   flu
    """)


def transparent_t9_masked() -> Microdata:
    """TRANSPARENT appendix Table II, the partition P': T9 after Mask has changed Ann's disease to flu."""
    return _microdata("""
        Name  Age  Disease
        Ann   21   flu
        Bob   27   dyspepsia
        Cate  32   dyspepsia
        Don   32   flu
        Ed    54   flu
        Fred  60   flu
        Gill  60   flu
    """)


def transparent_t10() -> pa.Table:
    """TRANSPARENT appendix Table III, T10*: what Mask publishes of T9; belief in Ann's dyspepsia exceeds one half."""
    return _table("""
        Age       Disease
        [21, 27]  flu
        [21, 27]  dyspepsia
        32        dyspepsia
        32        flu
        [54, 60]  flu
        [54, 60]  flu
        [54, 60]  flu
    """)


# --- CORRUPTION -------------------------------------------------------------------------------------------------------


def corruption_table1() -> Microdata:
    """CORRUPTION Table Ia: the microdata; who learns Bob's bronchitis learns Calvin's pneumonia from Table Ic."""
    return _microdata("""
        Owner   Age  Gender  Zipcode  Disease
        Bob     25   M       25000    bronchitis
        Calvin  30   M       27000    pneumonia
        Debbie  45   F       20000    pneumonia
        Ellie   50   F       15000    breast cancer
        Fiona   55   F       45000    ovarian cancer
        Gloria  58   F       32000    hypertension
        Henry   65   M       65000    Alzheimer
        Isaac   80   M       55000    dementia
    """)


def corruption_table1b() -> pa.Table:
    """CORRUPTION Table Ib: the voter list; Emily is in it and not in the microdata ("extraneous")."""
    return _table("""
        Name    Age  Gender  Zipcode
        Bob     25   M       25000
        Calvin  30   M       27000
        Debbie  45   F       20000
        Ellie   50   F       15000
        Emily   52   F       28000
        Fiona   55   F       45000
        Gloria  58   F       32000
        Henry   65   M       65000
        Isaac   80   M       55000
    """)


def corruption_table1c() -> pa.Table:
    """CORRUPTION Table Ic: a generalization with four groups of two, each with two diseases; not minimal boxes."""
    return _table("""
        Age       Gender  Zipcode         Disease
        [21, 40]  M       [11***, 30***]  bronchitis
        [21, 40]  M       [11***, 30***]  pneumonia
        [41, 60]  F       [11***, 30***]  pneumonia
        [41, 60]  F       [11***, 30***]  breast cancer
        [41, 60]  F       [31***, 50***]  ovarian cancer
        [41, 60]  F       [31***, 50***]  hypertension
        [61, 80]  M       [51***, 70***]  Alzheimer
        [61, 80]  M       [51***, 70***]  dementia
    """)


def corruption_figure1() -> Microdata:
    """CORRUPTION Figure 1: one (1/2, 3)-diverse group of eleven, whose quasi-identifiers are all the same.

    The counts are 3, 2, 2, 2, 1, 1, and 3 <= 1/2 * (2 + 2 + 1 + 1).
    """
    return _microdata("""
        Owner  QI    Disease
        o1     same  pneumonia
        o2     same  pneumonia
        o3     same  pneumonia
        o4     same  HIV
        o5     same  HIV
        o6     same  bronchitis
        o7     same  bronchitis
        o8     same  lung cancer
        o9     same  lung cancer
        o10    same  SARS
        o11    same  tuberculosis
    """)


def corruption_table2a() -> Microdata:
    """CORRUPTION Table IIa: Table Ia after perturbation at p = 0.25; only Calvin and Gloria kept their diseases."""
    return _microdata("""
        Owner   Age  Gender  Zipcode  Disease
        Bob     25   M       25000    hypertension
        Calvin  30   M       27000    pneumonia
        Debbie  45   F       20000    breast cancer
        Ellie   50   F       15000    bronchitis
        Fiona   55   F       45000    bronchitis
        Gloria  58   F       32000    hypertension
        Henry   65   M       65000    dementia
        Isaac   80   M       55000    ovarian cancer
    """)


def corruption_table2b() -> pa.Table:
    """CORRUPTION Table IIb: Table IIa after generalization at k = 2, in the groups of Table Ic."""
    return _table("""
        Age       Gender  Zipcode         Disease
        [21, 40]  M       [11***, 30***]  hypertension
        [21, 40]  M       [11***, 30***]  pneumonia
        [41, 60]  F       [11***, 30***]  breast cancer
        [41, 60]  F       [11***, 30***]  bronchitis
        [41, 60]  F       [31***, 50***]  bronchitis
        [41, 60]  F       [31***, 50***]  hypertension
        [61, 80]  M       [51***, 70***]  dementia
        [61, 80]  M       [51***, 70***]  ovarian cancer
    """)


def corruption_table2c() -> pa.Table:
    """CORRUPTION Table IIc: what perturbed generalization publishes: one tuple a group, and G, the group's size."""
    return _table("""
        Age       Gender  Zipcode         Disease         G
        [21, 40]  M       [11***, 30***]  hypertension    2
        [41, 60]  F       [11***, 30***]  breast cancer   2
        [41, 60]  F       [31***, 50***]  bronchitis      2
        [61, 80]  M       [51***, 70***]  ovarian cancer  2
    """)


# --- ANATOMY ----------------------------------------------------------------------------------------------------------


def anatomy_table1() -> Microdata:
    """ANATOMY Table 1: the microdata, with tuple numbers as identifiers; 1 is Bob, 7 is Alice."""
    return _microdata("""
        tuple ID  Age  Sex  Zipcode  Disease
        1         23   M    11000    pneumonia
        2         27   M    13000    dyspepsia
        3         35   M    59000    dyspepsia
        4         59   M    12000    pneumonia
        5         61   F    54000    flu
        6         65   F    25000    gastritis
        7         65   F    25000    flu
        8         70   F    30000    bronchitis
    """)


def anatomy_table2() -> pa.Table:
    """ANATOMY Table 2: a 2-diverse table of two groups, on which query A is estimated as 0.1; not minimal boxes.

    The text once gives the first age interval as [20, 60], and once the zip codes as [100001, 60000]; the table and the
    estimate (p = 10/40 * 10000/50000 = 0.05) have [21, 60] and [10001, 60000]. It prints tuple numbers, for reference;
    a release would not have them.
    """
    return _table("""
        tuple ID  Age       Sex  Zipcode         Disease
        1         [21, 60]  M    [10001, 60000]  pneumonia
        2         [21, 60]  M    [10001, 60000]  dyspepsia
        3         [21, 60]  M    [10001, 60000]  dyspepsia
        4         [21, 60]  M    [10001, 60000]  pneumonia
        5         [61, 70]  F    [10001, 60000]  flu
        6         [61, 70]  F    [10001, 60000]  gastritis
        7         [61, 70]  F    [10001, 60000]  flu
        8         [61, 70]  F    [10001, 60000]  bronchitis
    """)


def anatomy_table3a() -> pa.Table:
    """ANATOMY Table 3a: the quasi-identifier table (QIT), from which query A is exact; row numbers for reference."""
    return _table("""
        row #  Age  Sex  Zipcode  Group-ID
        1      23   M    11000    1
        2      27   M    13000    1
        3      35   M    59000    1
        4      59   M    12000    1
        5      61   F    54000    2
        6      65   F    25000    2
        7      65   F    25000    2
        8      70   F    30000    2
    """)


def anatomy_table3b() -> pa.Table:
    """ANATOMY Table 3b: the sensitive table (ST)."""
    return _table("""
        Group-ID  Disease     Count
        1         dyspepsia   2
        1         pneumonia   2
        2         bronchitis  1
        2         flu         2
        2         gastritis   1
    """)


def anatomy_table4() -> pa.Table:
    """ANATOMY Table 4: the natural join of Tables 3a and 3b, as far as printed: group 1."""
    return _table("""
        Age  Sex  Zipcode  Group-ID  Disease    Count
        23   M    11000    1         dyspepsia  2
        23   M    11000    1         pneumonia  2
        27   M    13000    1         dyspepsia  2
        27   M    13000    1         pneumonia  2
        35   M    59000    1         dyspepsia  2
        35   M    59000    1         pneumonia  2
        59   M    12000    1         dyspepsia  2
        59   M    12000    1         pneumonia  2
    """)


def anatomy_table5() -> pa.Table:
    """ANATOMY Table 5: the voter list, as far as printed; Emily alone is not in the microdata."""
    return _table("""
        Name       Age  Sex  Zipcode
        Ada        61   F    54000
        Alice      65   F    25000
        Bella      65   F    25000
        Emily      67   F    33000
        Stephanie  70   F    30000
    """)


# --- MINIMALITY -------------------------------------------------------------------------------------------------------


def minimality_figure6a() -> Microdata:
    """MINIMALITY Figure 6(a): the only table from which GG could have made that group; a and b are positive.

    The figure prints the published group, both columns sorted: see `minimality_figure6a_published`. Under binary
    2-diversity only "Positive" counts, and had {a, b} been diverse, GG would have closed it.
    """
    return _microdata(
        """
        QI  SA
        a   Positive
        b   Positive
        c   Negative
        d   Negative
        """,
        ordered={"QI": ["a", "b", "c", "d"]},
        named=False,
    )


def minimality_figure6a_published() -> pa.Table:
    """MINIMALITY Figure 6(a) as printed: one group of GG before recoding; its rows do not belong together."""
    return _table("""
        QI  SA
        a   Negative
        b   Negative
        c   Positive
        d   Positive
    """)


def minimality_figure6b() -> Microdata:
    """MINIMALITY Figure 6(b): the only table that strict Mondrian would not have split; a and b are positive.

    The median is c, and the halves that were tried are {a, b} and {c, c, c, d}; only the smaller can fail.
    """
    return _microdata(
        """
        QI  SA
        a   Positive
        b   Positive
        c   Negative
        c   Negative
        c   Negative
        d   Negative
        """,
        ordered={"QI": ["a", "b", "c", "d"]},
        named=False,
    )


def minimality_figure6b_published() -> pa.Table:
    """MINIMALITY Figure 6(b) as printed: one group of Mondrian before recoding; its rows do not belong together.

    The scan is damaged where (a) and (b) stand side by side; the text confirms c three times and two positive values.
    """
    return _table("""
        QI  SA
        a   Negative
        b   Negative
        c   Negative
        c   Negative
        c   Positive
        d   Positive
    """)


# --- ANGEL ------------------------------------------------------------------------------------------------------------


def angel_table1() -> Microdata:
    """ANGEL Table 1a: the microdata; under 2-diversity generalization must give up sex, and most of age."""
    return _microdata("""
        Name    Age  Sex  Disease
        Alan    21   M    pneumonia
        Bob     23   M    pneumonia
        Carrie  38   F    bronchitis
        Daisy   40   F    bronchitis
        Eddy    41   M    pneumonia
        Frank   43   M    pneumonia
        Gloria  58   F    bronchitis
        Helena  60   F    bronchitis
    """)


def angel_table1b() -> pa.Table:
    """ANGEL Table 1b: the 2-diverse generalization of Table 1a."""
    return _table("""
        Age      Sex  Disease
        [21,40]  *    pneumonia
        [21,40]  *    pneumonia
        [21,40]  *    bronchitis
        [21,40]  *    bronchitis
        [41,60]  *    pneumonia
        [41,60]  *    pneumonia
        [41,60]  *    bronchitis
        [41,60]  *    bronchitis
    """)


def angel_table2() -> Microdata:
    """ANGEL Table 2a: the microdata of the marginals; zip codes are printed as 10k, 58k and so on."""
    return _microdata("""
        Name    Age  Sex  Zipcode  Disease
        Alan    21   M    10000    pneumonia
        Bob     23   M    58000    flu
        Carrie  58   F    12000    bronchitis
        Daisy   60   F    60000    pneumonia
        Eddy    70   M    78000    flu
        Frank   72   M    80000    bronchitis
    """)


def angel_table2b() -> pa.Table:
    """ANGEL Table 2b: a 2-diverse generalization of Table 2a. Together with Table 2c it gives Alan's disease away."""
    return _table("""
        Age      Sex  Zipcode    Disease
        [21,23]  M    [10k,58k]  pneumonia
        [21,23]  M    [10k,58k]  flu
        [58,60]  F    [12k,60k]  bronchitis
        [58,60]  F    [12k,60k]  pneumonia
        [70,72]  M    [78k,80k]  flu
        [70,72]  M    [78k,80k]  bronchitis
    """)


def angel_table2c() -> pa.Table:
    """ANGEL Table 2c: a 2-diverse marginal of Table 2a, on zip code and disease."""
    return _table("""
        Zipcode    Disease
        [10k,12k]  pneumonia
        [10k,12k]  bronchitis
        [58k,60k]  flu
        [58k,60k]  pneumonia
        [78k,80k]  flu
        [78k,80k]  bronchitis
    """)


def angel_table3a() -> pa.Table:
    """ANGEL Table 3a: the batch table of Table 1a.

    The batches are {Alan, Carrie}, {Bob, Daisy}, {Eddy, Gloria} and {Frank, Helena}.
    """
    return _table("""
        Batch-ID  Disease     Count
        1         pneumonia   1
        1         bronchitis  1
        2         pneumonia   1
        2         bronchitis  1
        3         pneumonia   1
        3         bronchitis  1
        4         pneumonia   1
        4         bronchitis  1
    """)


def angel_table3b() -> pa.Table:
    """ANGEL Table 3b: the generalized table of Table 1a.

    The buckets are {Alan, Bob}, {Carrie, Daisy}, {Eddy, Frank} and {Gloria, Helena}.
    """
    return _table("""
        Age      Sex  Batch-ID
        [21,23]  M    1
        [21,23]  M    2
        [38,40]  F    1
        [38,40]  F    2
        [41,43]  M    3
        [41,43]  M    4
        [58,60]  F    3
        [58,60]  F    4
    """)


def angel_table4a() -> pa.Table:
    """ANGEL Table 4a: the batch table that says the same as Table 1b."""
    return _table("""
        Batch-ID  Disease     Count
        1         pneumonia   2
        1         bronchitis  2
        2         pneumonia   2
        2         bronchitis  2
    """)


def angel_table4b() -> pa.Table:
    """ANGEL Table 4b: the generalized table that says the same as Table 1b."""
    return _table("""
        Age      Sex  Batch-ID
        [21,40]  *    1
        [21,40]  *    1
        [21,40]  *    1
        [21,40]  *    1
        [41,60]  *    2
        [41,60]  *    2
        [41,60]  *    2
        [41,60]  *    2
    """)


def angel_table5a() -> pa.Table:
    """ANGEL Table 5a: the 2-diverse generalization of Table 1a that gives the batches; never published."""
    return _table("""
        Name    Age      Sex  Disease
        Alan    [21,38]  *    pneumonia
        Carrie  [21,38]  *    bronchitis
        Bob     [23,40]  *    pneumonia
        Daisy   [23,40]  *    bronchitis
        Eddy    [41,58]  *    pneumonia
        Gloria  [41,58]  *    bronchitis
        Frank   [43,60]  *    pneumonia
        Helena  [43,60]  *    bronchitis
    """)


def angel_table5b() -> pa.Table:
    """ANGEL Table 5b: the 2-anonymous generalization of Table 1a that gives the buckets; never published."""
    return _table("""
        Name    Age      Sex  Disease
        Alan    [21,23]  M    pneumonia
        Bob     [21,23]  M    pneumonia
        Carrie  [38,40]  F    bronchitis
        Daisy   [38,40]  F    bronchitis
        Eddy    [41,43]  M    pneumonia
        Frank   [41,43]  M    pneumonia
        Gloria  [58,60]  F    bronchitis
        Helena  [58,60]  F    bronchitis
    """)


def angel_table6a() -> pa.Table:
    """ANGEL Table 6a: the quasi-identifier table of the anatomy in the groups of Table 1b."""
    return _table("""
        Age  Sex  QI-Group
        21   M    1
        23   M    1
        38   F    1
        40   F    1
        41   M    2
        43   M    2
        58   F    2
        60   F    2
    """)


def angel_table6b() -> pa.Table:
    """ANGEL Table 6b: the sensitive table of the same anatomy."""
    return _table("""
        QI-Group  Disease     Count
        1         pneumonia   2
        1         bronchitis  2
        2         pneumonia   2
        2         bronchitis  2
    """)


def angel_table7a() -> pa.Table:
    """ANGEL Table 7a: the batch table of Table 2a, shared by both marginals of Example 3."""
    return _table("""
        Batch-ID  Disease     Count
        1         pneumonia   1
        1         flu         1
        2         bronchitis  1
        2         pneumonia   1
        3         flu         1
        3         bronchitis  1
    """)


def angel_table7b() -> pa.Table:
    """ANGEL Table 7b: the generalized table of the marginal on age, sex and zip code."""
    return _table("""
        Age      Sex  Zipcode    Batch-ID
        [21,23]  M    [10k,58k]  1
        [21,23]  M    [10k,58k]  1
        [58,60]  F    [12k,60k]  2
        [58,60]  F    [12k,60k]  2
        [70,72]  M    [78k,80k]  3
        [70,72]  M    [78k,80k]  3
    """)


def angel_table7c() -> pa.Table:
    """ANGEL Table 7c: the generalized table of the marginal on zip code alone."""
    return _table("""
        Zipcode    Batch-ID
        [10k,12k]  1
        [10k,12k]  2
        [58k,60k]  1
        [58k,60k]  2
        [78k,80k]  3
        [78k,80k]  3
    """)


def angel_table8() -> Microdata:
    """ANGEL Table 8: a world that fits Tables 2b and 2c: Table 2a with Eddy's and Frank's diseases exchanged."""
    return _microdata("""
        Name    Age  Sex  Zipcode  Disease
        Alan    21   M    10000    pneumonia
        Bob     23   M    58000    flu
        Carrie  58   F    12000    bronchitis
        Daisy   60   F    60000    pneumonia
        Eddy    70   M    78000    bronchitis
        Frank   72   M    80000    flu
    """)
