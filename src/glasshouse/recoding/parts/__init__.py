# SPDX-License-Identifier: Apache-2.0
"""Published tables in parts: pieces of people in, parts of tables out, the same on one machine and on many.

A recoding gives its tables in parts (`table_in_parts`). What an engine does with each:

1. For every piece (`members`), in any order and anywhere, it asks for a summary, which is small.
2. With all summaries and the number of all groups the table is settled: now it is known how many parts there
   are, and which rows belong to each. This depends on people and groups, and not on pieces, files or machines, except
   that the borders of a table of boxes are taken from samples of the pieces.
3. Groups are numbered. Every piece then gives rows: unsigned 64-bit words, and for each row the
   number of its part. The engine moves rows to their part, in any order, by any way.
4. A part is made from its rows: they are sorted and written as values. Nothing may come between this and the
   file: rows stand in the order of what is published, whatever order they came in.

A recoding with random choices makes them in the last step, from a child of its source that belongs to the part. Nothing
here holds a source, so everything here can be pickled.
"""

__all__: list[str] = []
