# SPDX-License-Identifier: Apache-2.0
"""The steps of the studio, in their order.

A step has a file here with its routes, a template of the same name, and its long work in ``tasks``. Forms name columns
by their numbers, not by their names, which may hold anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.studio.steps import data, look, method, privacy, release

if TYPE_CHECKING:
    from glasshouse.studio.page import Step

__all__ = ["STEPS"]

STEPS: tuple[Step, ...] = (data.STEP, privacy.STEP, method.STEP, release.STEP, look.STEP)
