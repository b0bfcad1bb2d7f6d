# SPDX-License-Identifier: Apache-2.0
"""Draw every picture: ``python -m tools.pictures``."""

from __future__ import annotations

import warnings

from glasshouse import DisclosureWarning
from tools.pictures import FOLDER, PICTURES

warnings.simplefilter("ignore", DisclosureWarning)  # the pictures show what these methods give away
for name, picture in PICTURES.items():
    (FOLDER / f"{name}.svg").write_text(picture(), encoding="utf-8")
