# SPDX-License-Identifier: Apache-2.0
"""SmartNoise's MST: noisy counts of single attributes, and of the pairs of a spanning tree."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run


def work(job):
    import numpy as np
    import pandas as pd
    from snsynth import Synthesizer

    np.random.seed(job["seed"])
    frame, told, options = pd.read_csv(job["table"], keep_default_na=False), {}, job["options"]
    with measured(told):
        maker = Synthesizer.create("mst", epsilon=options["epsilon"], delta=options["delta"])
        maker.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
        drawn = maker.sample(job["rows"])
    drawn.to_csv(job["out"], index=False)
    return told


if __name__ == "__main__":
    run("smartnoise-synth", work)
