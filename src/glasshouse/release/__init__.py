# SPDX-License-Identifier: Apache-2.0
"""What goes out: published tables with their recipe and guarantee; no way back to the microdata."""

from glasshouse.release.package.read import load
from glasshouse.release.release import Guarantee, PublishedColumn, Recipe, Release

__all__ = ["Guarantee", "PublishedColumn", "Recipe", "Release", "load"]
