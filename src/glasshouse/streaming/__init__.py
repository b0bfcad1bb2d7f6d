# SPDX-License-Identifier: Apache-2.0
"""Files of any size: counted in batches, divided piece by piece, written part by part, and published.

`count.count_file` reads `batches` twice, for the `vocabulary` of each column and for a `tally` of the kinds of people;
identifiers are checked by a `register`, and `witnesses` tell what they are.

`publish.publish_file` counts a file and lets people who were counted make their `journey`. An engine does the work of
its `stages` (`port` says what engines can do): `local` in memory, or on disk, with a `spill` into files without a name.
`whereabouts` tell the audit who is where. `need` estimates in advance how much memory a file takes.
"""

__all__: list[str] = []
