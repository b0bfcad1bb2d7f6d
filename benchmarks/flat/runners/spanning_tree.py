# SPDX-License-Identifier: Apache-2.0
"""SmartNoise's MST: noisy counts of single attributes, and of the pairs of a spanning tree.

The rows are sampled from the released model. SmartNoise 1.0.8 would round instead, and the rounding of mbi 1.1.0, the
newest that it takes, makes columns depend on each other that do not in the model
(https://github.com/ryan112358/mbi/pull/145). It reads the domains from the data.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run


class Sampled:
    """A model of mbi that samples rows by themselves."""

    def __init__(self, model):
        self._model = model

    def synthetic_data(self, rows):
        return self._model.synthetic_data(rows, method="sample")


def work(job):
    import numpy as np
    import pandas as pd
    from snsynth import Synthesizer

    np.random.seed(job["seed"])
    frame, told, options = pd.read_csv(job["table"], keep_default_na=False), {}, job["options"]
    with measured(told):
        maker = Synthesizer.create("mst", epsilon=options["epsilon"], delta=options["delta"])
        maker.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
        maker.synthesizer = Sampled(maker.synthesizer)
        drawn = maker.sample(job["rows"])
    drawn.to_csv(job["out"], index=False)
    return told


if __name__ == "__main__":
    run("smartnoise-synth", work)
