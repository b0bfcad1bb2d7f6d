# SPDX-License-Identifier: Apache-2.0
"""The version of the package, defined only here."""

__all__ = ["VERSION"]

VERSION = "0.4.0"
