# SPDX-License-Identifier: Apache-2.0
"""``python -m glasshouse``: the command line."""

from glasshouse.cli import main

main()
