# SPDX-License-Identifier: Apache-2.0
"""Draw every picture: ``python -m docs.pictures``."""

from __future__ import annotations

import warnings

from docs.pictures import FOLDER, PICTURES
from glasshouse import DisclosureWarning

warnings.simplefilter("ignore", DisclosureWarning)  # the pictures show what these methods give away
for name, picture in PICTURES.items():
    (FOLDER / f"{name}.svg").write_text(picture(), encoding="utf-8")
