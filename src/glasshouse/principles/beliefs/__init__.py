# SPDX-License-Identifier: Apache-2.0
"""Promises about beliefs after perturbation (CORRUPTION): rho1-to-rho2 and delta-growth."""

__all__: list[str] = []
