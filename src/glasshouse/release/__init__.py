# SPDX-License-Identifier: Apache-2.0
"""What goes out: published tables with their recipe and guarantee; no way back to the microdata."""

from glasshouse.release.guarantee import Guarantee
from glasshouse.release.package.read import load
from glasshouse.release.recipe import Recipe
from glasshouse.release.release import PublishedColumn, Release

__all__ = ["Guarantee", "PublishedColumn", "Recipe", "Release", "load"]
