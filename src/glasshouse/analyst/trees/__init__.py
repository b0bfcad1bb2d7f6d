# SPDX-License-Identifier: Apache-2.0
"""Decision trees that learn from a perturbed sample: `classifier` is the public class."""

__all__: list[str] = []
