# SPDX-License-Identifier: Apache-2.0
"""Pages: what people look at, made of plain data.

`html` renders templates, which escape what they are given; `svg` is the kit of all figures, which escapes likewise;
`charts` holds the figures, `report` the report for the person who publishes, `comparison_page` the page of a
comparison.
"""

__all__ = ["charts", "comparison", "html", "numbers", "report", "svg"]
