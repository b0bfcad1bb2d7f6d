# SPDX-License-Identifier: Apache-2.0
"""SDV's GaussianCopulaSynthesizer with its defaults; it promises nothing about a person."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run


def work(job):
    import numpy as np
    import pandas as pd
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    np.random.seed(job["seed"])
    frame, told = pd.read_csv(job["table"], keep_default_na=False), {}
    kinds = {n: {"sdtype": "numerical" if n in job["numbers"] else "categorical"} for n in frame.columns}
    metadata = Metadata.load_from_dict({"tables": {"people": {"columns": kinds}}, "relationships": []})
    with measured(told):
        maker = GaussianCopulaSynthesizer(metadata)
        maker.fit({"people": frame})
        drawn = maker.sample(num_rows=job["rows"])["people"]
    drawn.to_csv(job["out"], index=False)
    return told


if __name__ == "__main__":
    run("sdv", work)
