# SPDX-License-Identifier: Apache-2.0
"""The report says who signed the release, when, and whether the signature is valid."""

from __future__ import annotations

import json
from pathlib import Path

import glasshouse as gh


def test_the_report_says_whether_and_by_whom_a_release_is_signed(tmp_path: Path) -> None:
    table = gh.synthetic.hospital(40, seed=1)
    out = tmp_path / "out"
    release = gh.publish(table, principle="2-diversity", out=out)
    report = gh.make_report(release, table)
    assert report.facts["signature"] is None
    unsigned = report.write(out / "audit")
    assert unsigned.facts["signature"] is None
    assert "was not signed" in (out / "audit" / "report.html").read_text()

    gh.new_key(tmp_path / "steward.pem")
    signed = gh.sign(out / "release", key=tmp_path / "steward.pem", signer="The <b>office</b>")
    written = report.write(out / "audit")
    page = (out / "audit" / "report.html").read_text()
    told = json.loads((out / "audit" / "report.json").read_text())["signature"]
    assert told == {"signer": "The <b>office</b>", "date": signed.date, "key": signed.key, "fault": None}
    assert written.facts["signature"] == told
    assert "The &lt;b&gt;office&lt;/b&gt;" in page
    assert signed.date in page
    assert "the signature is valid" in page

    file = out / "release" / "signature.json"
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "signer": "Somebody else"}))
    found = report.with_files(out / "release").facts["signature"]
    assert "was not made with this key" in found["fault"]
    assert "The signature is not valid" in report.with_files(out / "release").to_html()
    file.write_text("{}")
    assert report.with_files(out / "release").facts["signature"]["fault"] is not None
