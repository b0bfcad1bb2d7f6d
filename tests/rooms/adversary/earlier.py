# SPDX-License-Identifier: Apache-2.0
"""Releases as versions before 0.3 made them: people with equal quasi-identifiers in the order of their identifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import glasshouse as gh
import glasshouse.journeys.publish as journey
from glasshouse.principles.principle import Requirement


def publish_by_identifiers(table: gh.Microdata, **choices: Any) -> gh.Release:
    """Publish a table whose tuples are divided as rows, ties broken by identifiers."""

    def divided(plan: Any, rows: Any, source: gh.Source, engine: Any) -> Any:
        requirement = Requirement.in_groups(plan.principle, table)
        groups = plan.method.divide(table, requirement, source=source, engine=engine)
        return None, groups.renumbered(source.child("group numbers"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journey, "_divided", divided)
        return replace(gh.publish(table, **choices), other_writer="format 3, glasshouse 0.2.0")
