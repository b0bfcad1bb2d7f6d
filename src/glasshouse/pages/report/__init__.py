# SPDX-License-Identifier: Apache-2.0
"""The steward's report: what was published, what can be learned from it about people, and about the population.

It is an inside document: it compares the release with the microdata. It names nobody, and shows no value but those that
were published. `publication` publishes a table by choices, with its report in the audit.
"""

from glasshouse.pages.report.effort import Effort
from glasshouse.pages.report.report import Report, make_report, report_on_file

__all__ = ["Effort", "Report", "make_report", "report_on_file"]
