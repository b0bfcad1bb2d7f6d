# SPDX-License-Identifier: Apache-2.0
"""Copies of a release for programs that read neither Parquet nor CSV: an Excel workbook, or files of Stata.

A copy lies beside the release and not in it: the package stays as simple as it is, and everything that reads or checks
it stays complete. A copy is read again when it is written and when the release is verified, and must hold the rows of
the release, value by value. `workbook` and `stata_file` write and read; `copy_folder` places and compares.
"""

__all__: list[str] = []
