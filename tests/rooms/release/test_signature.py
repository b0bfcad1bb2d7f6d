"""A signature says who published a release, and that no byte was changed since."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.errors import RepublicationWarning
from glasshouse.release.package.signature import signature_in


def run(*words: str) -> Result:
    return CliRunner().invoke(glasshouse, list(words))


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", out=tmp_path / "out")
    gh.new_key(tmp_path / "steward.pem")
    gh.sign(tmp_path / "out" / "release", key=tmp_path / "steward.pem", signer="The office")
    return tmp_path


def test_a_signed_release_is_verified_by_its_public_key(signed: Path) -> None:
    found = gh.verify(signed / "out", signed_by=signed / "steward.pem.pub")
    assert found.holds
    signature = signature_in(signed / "out" / "release")
    assert signature is not None
    assert signature.signer == "The office"
    assert "secret" not in (signed / "steward.pem.pub").read_text().lower()
    assert stat.S_IMODE((signed / "steward.pem").stat().st_mode) == 0o600
    assert gh.load(signed / "out" / "release").n_tuples == 60


def test_every_changed_byte_is_noticed(signed: Path) -> None:
    folder = signed / "out" / "release"
    for file in sorted(folder.iterdir()):
        before = file.read_bytes()
        middle = len(before) // 2
        file.write_bytes(before[:middle] + bytes([before[middle] ^ 1]) + before[middle + 1 :])
        with pytest.raises(gh.SourceError):
            gh.verify(folder, signed_by=signed / "steward.pem.pub")
        file.write_bytes(before)
    (folder / "more.txt").write_text("not part of it")
    with pytest.raises(gh.SourceError, match=r"more\.txt was not written by Glasshouse"):
        gh.verify(folder, signed_by=signed / "steward.pem.pub")
    (folder / "more.txt").unlink()
    assert gh.verify(folder, signed_by=signed / "steward.pem.pub").holds


@pytest.mark.parametrize("field", ["signer", "date", "manifest", "signature", "key"])
def test_nothing_that_the_signature_says_can_be_changed(signed: Path, field: str) -> None:
    file = signed / "out" / "release" / "signature.json"
    told = json.loads(file.read_text())
    told[field] = told[field][:-1] + ("0" if told[field][-1] != "0" else "1")
    file.write_text(json.dumps(told))
    with pytest.raises(gh.SourceError):
        gh.verify(signed / "out", signed_by=signed / "steward.pem.pub")


def test_another_key_and_no_signature_are_refused(signed: Path, tmp_path: Path) -> None:
    other = gh.new_key(tmp_path / "other.pem")
    with pytest.raises(gh.SourceError, match="with another key"):
        gh.verify(signed / "out", signed_by=other)
    with pytest.raises(gh.InputError, match="is not a public key"):
        gh.verify(signed / "out", signed_by=tmp_path / "other.pem")
    (signed / "out" / "release" / "signature.json").unlink()
    with pytest.raises(gh.SourceError, match="has no signature"):
        gh.verify(signed / "out", signed_by=other)
    assert gh.verify(signed / "out").holds


def test_a_release_that_was_changed_is_not_signed(signed: Path) -> None:
    folder = signed / "out" / "release"
    (folder / "README.md").write_text("something else")
    with pytest.raises(gh.InputError, match="was changed after it was published"):
        gh.sign(folder, key=signed / "steward.pem", signer="The office")


def test_a_signed_release_can_be_replaced_by_its_owner(signed: Path) -> None:
    with pytest.warns(RepublicationWarning):
        gh.publish(gh.synthetic.hospital(80, seed=2), principle="3-diversity", out=signed / "out", force=True)
    assert signature_in(signed / "out" / "release") is None


@pytest.mark.parametrize(
    "text", ["my own notes", "{}", '{"signer": "x", "date": "", "key": "", "manifest": "", "signature": ""}']
)
def test_a_file_of_that_name_that_is_no_signature_of_this_release_is_somebodys_own(signed: Path, text: str) -> None:
    file = signed / "out" / "release" / "signature.json"
    file.write_text(text)
    with pytest.raises(gh.OutputError, match=r"signature\.json"):
        gh.publish(gh.synthetic.hospital(80, seed=2), principle="3-diversity", out=signed / "out", force=True)
    with pytest.raises(gh.InputError, match="is not signed"):
        gh.sign(file.parent, key=signed / "steward.pem", signer="The office")
    assert file.read_text() == text


def test_a_release_is_signed_again(signed: Path) -> None:
    gh.sign(signed / "out" / "release", key=signed / "steward.pem", signer="Another office")
    signature = signature_in(signed / "out" / "release")
    assert signature is not None
    assert signature.signer == "Another office"
    assert gh.verify(signed / "out", signed_by=signed / "steward.pem.pub").holds


def test_a_signature_of_another_key_is_replaced_only_if_told(signed: Path) -> None:
    folder = signed / "out" / "release"
    before = (folder / "signature.json").read_bytes()
    gh.new_key(signed / "other.pem")
    with pytest.raises(gh.OutputError, match=r"already signed by The office on \d{4}-\d\d-\d\d.*give replace=True"):
        gh.sign(folder, key=signed / "other.pem", signer="Another office")
    assert (folder / "signature.json").read_bytes() == before
    gh.sign(folder, key=signed / "other.pem", signer="Another office", replace=True)
    assert gh.verify(folder, signed_by=signed / "other.pem.pub").holds


def test_the_signature_in_an_archive_beside_the_folder_counts_too(tmp_path: Path) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", out=tmp_path / "out", zip=True)
    for name in ("first", "second"):
        gh.new_key(tmp_path / f"{name}.pem")
    gh.sign(tmp_path / "out" / "release.zip", key=tmp_path / "first.pem", signer="The office")
    with pytest.raises(gh.OutputError, match=r"release\.zip is already signed by The office"):
        gh.sign(tmp_path / "out" / "release", key=tmp_path / "second.pem", signer="Another office")
    assert signature_in(tmp_path / "out" / "release") is None
    gh.sign(tmp_path / "out" / "release", key=tmp_path / "first.pem", signer="The office")


def test_what_is_no_signature_but_names_this_release_is_replaced_only_if_told(signed: Path) -> None:
    file = signed / "out" / "release" / "signature.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "signer": 7}))
    with pytest.raises(gh.OutputError, match=r"is not the signature of a release.*give replace=True"):
        gh.sign(file.parent, key=signed / "steward.pem", signer="The office")
    gh.sign(file.parent, key=signed / "steward.pem", signer="The office", replace=True)
    assert gh.verify(file.parent, signed_by=signed / "steward.pem.pub").holds


def test_the_command_says_what_it_replaces(signed: Path) -> None:
    out, key = str(signed / "out"), str(signed / "steward.pem")
    again = run("sign", out, "--key", key, "--signer", "The same office")
    assert again.exit_code == 0, again.output
    assert "replaces the earlier signature of the same key, signed by The office on" in again.output

    other = str(signed / "other.pem")
    refused = run("sign", out, "--new-key", other, "--signer", "Another office")
    assert refused.exit_code == 2
    assert "is already signed by The same office on" in refused.stderr
    assert "--replace" in refused.stderr
    assert not Path(other).exists(), "a key is not made for nothing"
    assert run("sign", out, "--new-key", other).exit_code == 2
    assert not Path(other).exists()

    taken = run("sign", out, "--new-key", other, "--signer", "Another office", "--replace")
    assert taken.exit_code == 0, taken.output
    assert "replaces the signature of another key, signed by The same office on" in taken.output
    told = json.loads(run("sign", out, "--key", other, "--signer", "Another office", "--json").stdout)
    assert told["replaced"]["signer"] == "Another office"
    assert told["signature"]["key"] == told["replaced"]["key"]


def words_of(shown: Result) -> str:
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


def test_show_names_the_signer_and_how_to_check_the_signature(signed: Path) -> None:
    release = str(signed / "out" / "release")
    signature = signature_in(Path(release))
    assert signature is not None
    shown = run("show", release)
    assert f"Signed By The office on {signature.date[:10]}, as the signature says." in words_of(shown)
    assert f"It is valid for the key {signature.key[:16]} that it names." in words_of(shown)
    assert "Whether this key belongs to The office was not checked." in words_of(shown)
    assert f"To check it: glasshouse verify {release} --signed-by PUBLIC_KEY_FILE" in words_of(shown)
    told = json.loads(run("show", release, "--json").stdout)["signature"]
    assert told["signer"] == "The office"
    assert told["date"] == signature.date
    assert (told["checked"], told["fault"]) == (False, None)


def test_show_says_that_a_signature_is_not_valid(signed: Path) -> None:
    file = signed / "out" / "release" / "signature.json"
    file.write_text(file.read_text().replace("The office", "Somebody else"))
    shown = words_of(run("show", str(file.parent)))
    assert "Signed By Somebody else" not in shown
    assert "Signed The signature is not valid, so nobody can be taken for the signer" in shown
    assert "was not made with this key, or was changed since" in shown
    file.write_text("{}")
    assert "is not the signature of a release" in words_of(run("show", str(file.parent)))
    assert json.loads(run("show", str(file.parent), "--json").stdout)["signature"]["signer"] is None


def test_show_tells_that_nobody_signed_only_in_the_details(tmp_path: Path) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity").save(tmp_path / "release")
    assert "igned" not in words_of(run("show", str(tmp_path / "release")))
    assert "Signed By nobody: the release does not show who published it." in words_of(
        run("show", str(tmp_path / "release"), "--why")
    )
    assert json.loads(run("show", str(tmp_path / "release"), "--json").stdout)["signature"] is None


def test_keys_are_not_replaced_and_may_have_a_password(tmp_path: Path) -> None:
    gh.new_key(tmp_path / "steward.pem", password=b"long")
    with pytest.raises(gh.OutputError, match="never replaces a key"):
        gh.new_key(tmp_path / "steward.pem")
    release = gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity")
    release.save(tmp_path / "release")
    with pytest.raises(gh.InputError, match="has a password"):
        gh.sign(tmp_path / "release", key=tmp_path / "steward.pem", signer="The office")
    with pytest.raises(gh.InputError, match="the password is wrong"):
        gh.sign(tmp_path / "release", key=tmp_path / "steward.pem", signer="The office", password=b"short")
    gh.sign(tmp_path / "release", key=tmp_path / "steward.pem", signer="The office", password=b"long")
    assert gh.verify(tmp_path / "release", signed_by=tmp_path / "steward.pem.pub").holds


@pytest.mark.parametrize("signer", ["", "  ", "two\nlines", "\x1b[31mred", "x" * 201])
def test_a_signer_is_one_plain_line(signed: Path, signer: str) -> None:
    with pytest.raises(gh.InputError, match="the name of the signer must be"):
        gh.sign(signed / "out" / "release", key=signed / "steward.pem", signer=signer)


def test_by_commands(tmp_path: Path) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", out=tmp_path / "out")
    key = str(tmp_path / "steward.pem")
    made = run("sign", str(tmp_path / "out"), "--new-key", key, "--signer", "The office")
    assert made.exit_code == 0, made.output
    assert "is signed by The office on" in made.output
    found = run("verify", str(tmp_path / "out"), "--signed-by", f"{key}.pub")
    assert found.exit_code == 0, found.output
    assert "signed by The office" in found.output
    assert "was not checked" in run("verify", str(tmp_path / "out")).output
    told = json.loads(run("verify", str(tmp_path / "out"), "--json").output)
    assert told["signature"]["checked"] is False
    for wrong in (["sign"], ["sign", str(tmp_path / "out")], ["sign", str(tmp_path / "out"), "--key", key]):
        assert run(*wrong).exit_code == 2
