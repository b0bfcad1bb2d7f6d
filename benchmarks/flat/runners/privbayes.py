# SPDX-License-Identifier: Apache-2.0
"""DataSynthesizer's PrivBayes: a Bayesian network with Laplace noise, used as in its notebook on correlated attributes.

The domains are given to it, so that it need not look them up in the data; numbers are put into its 20 bins.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run


def work(job):
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    numbers, told = job["numbers"], {}
    Path("domains.json").write_text(json.dumps({n: v for n, v in job["domains"].items() if n not in numbers}))
    with measured(told):
        describer = DataDescriber(category_threshold=1000)
        describer.describe_dataset_in_correlated_attribute_mode(
            job["table"],
            k=2,
            epsilon=job["options"]["epsilon"],
            attribute_to_is_categorical={name: name not in numbers for name in job["domains"]},
            attribute_to_is_candidate_key=dict.fromkeys(job["domains"], False),
            categorical_attribute_domain_file="domains.json",
            numerical_attribute_ranges={name: [job["domains"][name][0], job["domains"][name][-1]] for name in numbers},
            seed=job["seed"],
        )
        describer.save_dataset_description_to_file("description.json")
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(job["rows"], "description.json", seed=job["seed"])
    generator.save_synthetic_data(job["out"])
    return told


if __name__ == "__main__":
    run("DataSynthesizer", work)
