# SPDX-License-Identifier: Apache-2.0
"""Statistics that are made of several questions about counts, sums and averages.

`composite` takes a question apart, asks its parts and puts one answer together; `quantile` finds medians and other
quantiles by counts; `row_choice` keeps, orders and limits the rows.
"""

__all__: list[str] = []
