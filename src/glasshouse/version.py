# SPDX-License-Identifier: Apache-2.0
"""The version, in the one place where it is written."""

__all__ = ["VERSION"]

VERSION = "0.4.0"
