# SPDX-License-Identifier: Apache-2.0
"""The signature of a release: who published it, and when, so that nobody else can have changed a byte since.

A release has a manifest with the SHA-256 of every file, and the signature is one of the manifest, by Ed25519
(RFC 8032). It stands in the release as ``signature.json``, with the name that the signer gave, the date and the public
key. What it proves is that the holder of the secret key signed these files; whose key it is, the reader must know from
elsewhere: so a check takes the public key that the reader trusts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from glasshouse.errors import InputError, OutputError, SourceError
from glasshouse.release.package.container.container import is_archive, manifest_sum, opened
from glasshouse.release.package.container.plain_file import MOST_MANIFEST
from glasshouse.release.package.container.zip_archive import ARCHIVE, signed_archive
from glasshouse.release.package.listing import private_file, stranger_in, write_whole
from glasshouse.release.package.manifest import MANIFEST, SIGNATURE
from glasshouse.release.package.pair import RELEASE

if TYPE_CHECKING:
    from glasshouse.release.package.container.container import Container

__all__ = ["Signature", "new_key", "refuse_signed", "sign", "signature_in"]

_ABOUT: Final = "glasshouse release signature 1"
_MOST_TEXT: Final = 200
_ASK: Final = "do not trust this release before you have asked the publisher which key is right"
_NEW: Final = "do not use this release: copy it again, or ask the publisher for a new copy"


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Who signed a release, when, and with which key.

    Attributes
    ----------
    signer
        The name that the signer gave; it is as trustworthy as the key.
    date
        When it was signed, by the signer's clock, in UTC.
    key
        The public key, as hexadecimal digits.
    manifest
        The SHA-256 of the manifest, which has those of all other files.
    signature
        The signature, as hexadecimal digits.
    """

    signer: str
    date: str
    key: str
    manifest: str
    signature: str = ""

    @property
    def _signed(self) -> bytes:
        told = {name: value for name, value in asdict(self).items() if name != "signature"}
        return json.dumps({"about": _ABOUT, **told}, sort_keys=True, separators=(",", ":")).encode()

    def by(self, key: Ed25519PrivateKey) -> Self:
        """The same record with its signature, made with this key."""
        return type(self)(**{**asdict(self), "signature": key.sign(self._signed).hex()})

    def check(self, folder: Path, trusted: str | Path) -> None:
        """Raise `SourceError` unless the holder of a trusted key signed the manifest of this folder."""
        if _hexadecimal(_public_key(Path(trusted))) != self.key:
            raise SourceError(f"{folder} is signed with another key than that in {trusted}: {_ASK}", source=folder)
        fault = self.fault(folder)
        if fault is not None:
            raise SourceError(fault, source=folder)

    def fault(self, folder: Path) -> str | None:
        """Why it is not a signature of the release in a folder, by the key that it names itself; None if it is one."""
        mismatch = self.mismatch(folder)
        if mismatch is not None:
            return mismatch
        stranger = stranger_in(folder)
        return None if stranger is None else f"{folder} is not as it was signed ({stranger}): {_NEW}"

    def mismatch(self, folder: Path) -> str | None:
        """Why the key that it names did not sign the manifest of a folder; None if it did. No other file is read."""
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.key)).verify(
                bytes.fromhex(self.signature), self._signed
            )
        except (InvalidSignature, ValueError):
            return f"the signature of {folder} was not made with this key, or was changed since: {_ASK}"
        if manifest_sum(folder) != self.manifest:
            return f"{folder} is not the release that was signed, because {MANIFEST} was changed: {_NEW}"
        return None

    def __str__(self) -> str:
        return f"signed by {self.signer} on {self.date[:10]}, key {self.key[:16]}"


def sign(
    folder: str | Path, *, key: str | Path, signer: str, password: bytes | None = None, replace: bool = False
) -> Signature:
    """Sign the release in a folder or a zip archive with a secret key, in place of an earlier signature of this key.

    Where the folder ``release`` has the archive ``release.zip`` of the same release beside it, both get the signature.

    Parameters
    ----------
    folder
        The folder or the zip archive of a release, all of whose files are as they were written.
    key
        The file of the secret key, from `new_key` or any other tool: Ed25519, as PEM.
    signer
        Who signs: a person or an office, as readers know them.
    password
        Of the secret key, if it has one.
    replace
        Whether a signature of another key is replaced too; without it, a release that has one is an `OutputError`.

    Examples
    --------
    >>> import tempfile
    >>> import glasshouse as gh
    >>> with tempfile.TemporaryDirectory() as place:
    ...     gh.publish(gh.examples.transparent_t1(), principle="2-diversity").save(f"{place}/release")
    ...     public = gh.new_key(f"{place}/steward.pem")
    ...     signed = gh.sign(f"{place}/release", key=f"{place}/steward.pem", signer="The statistical office")
    ...     gh.verify(f"{place}/release", signed_by=public).holds
    True
    """
    folder = Path(folder)
    archive = is_archive(folder)
    if not archive and not (folder / MANIFEST).is_file():
        raise InputError(f"{folder} is not the folder or the zip archive of a release: it has no {MANIFEST}")
    if not signer.strip() or len(signer) > _MOST_TEXT or not signer.isprintable():
        raise InputError(f"the name of the signer must be one line of at most {_MOST_TEXT} characters")
    stranger = stranger_in(folder)
    if stranger is not None:
        raise InputError(f"{folder} was changed after it was published, so it is not signed: {stranger}")
    secret = _secret_key(Path(key), password)
    own = _hexadecimal(secret.public_key())
    if not replace:
        refuse_signed(folder, own)
    signature = Signature(
        signer=signer,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        key=own,
        manifest=manifest_sum(folder),
    ).by(secret)
    text = json.dumps(asdict(signature), indent=2, ensure_ascii=False) + "\n"
    if archive:
        signed_archive(folder, text.encode())
        return signature
    write_whole(folder / SIGNATURE, text, private=False)
    for beside in _archives_of(folder):
        signed_archive(beside, text.encode())
    return signature


def refuse_signed(folder: Path, key: str = "") -> None:
    """Refuse a release signed with another key than this one; without a key, one signed with any key."""
    for place in (folder, *_archives_of(folder)):
        with opened(place) as container:
            if SIGNATURE not in container.names():
                continue
            try:
                earlier = _signature(container, place)
            except SourceError as error:
                raise OutputError(
                    f"{error}. If this release is yours, give replace=True: your signature then replaces that file",
                    path=place,
                ) from None
        if earlier.key != key:
            raise OutputError(
                f"{place} is already {earlier}. Your key is another one, so the release was not signed again: to "
                "replace that signature, give replace=True",
                path=place,
            )


def _archives_of(folder: Path) -> list[Path]:
    """The archive that `publish` wrote of the release in a folder, if it lies beside it."""
    beside = folder.parent / ARCHIVE
    ours = folder.name == RELEASE and not is_archive(folder) and is_archive(beside)
    return [beside] if ours and manifest_sum(beside) == manifest_sum(folder) else []


def signature_in(folder: Path) -> Signature | None:
    """The signature of a release, unchecked; None if it has none."""
    with opened(folder) as container:
        return _signature(container, folder) if SIGNATURE in container.names() else None


def _signature(container: Container, folder: Path) -> Signature:
    try:
        told = json.loads(container.read(SIGNATURE, MOST_MANIFEST))
        fields = {name: told[name] for name in Signature.__dataclass_fields__}
        if set(told) != set(fields) or not all(_is_plain(value) for value in fields.values()):
            raise ValueError
        return Signature(**fields)
    except (OSError, SourceError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise SourceError(f"{folder / SIGNATURE} is not the signature of a release: {_ASK}", source=folder) from None


def _is_plain(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_TEXT and value.isprintable()


# ------------------------------------------------------------------------------------------------------------- keys


def new_key(path: str | Path, *, password: bytes | None = None) -> Path:
    """Make a key: the secret one in a file that its owner alone can read, the public one beside it, with ``.pub``.

    Returns the path of the public key, which readers of releases must get from you in a way that they trust.
    """
    path = Path(path)
    public = path.with_name(f"{path.name}.pub")
    for file in (path, public):
        if file.exists():
            raise OutputError(
                f"{file} exists already, and Glasshouse never replaces a key: choose another name", path=file
            )
    secret = Ed25519PrivateKey.generate()
    hidden = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pem = secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)
    try:
        private_file(path).write_bytes(pem)
        public.write_bytes(
            secret.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
    except OSError as error:
        raise OutputError(f"cannot write the key {path}: {error.strerror}", path=path) from None
    return public


def _secret_key(path: Path, password: bytes | None) -> Ed25519PrivateKey:
    content = _content(path)
    try:
        key = serialization.load_pem_private_key(content, password)
    except TypeError:
        raise InputError(f"the key {path} {'has no password' if password else 'has a password: give it'}") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{path} is not a secret key in PEM format, or the password is wrong") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is a key of another kind: releases are signed with Ed25519 keys")
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    content = _content(path)
    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{path} is not a public key in PEM format: give the file that ends in .pub") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path} is a key of another kind: releases are signed with Ed25519 keys")
    return key


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"the key {path} cannot be read: {error.strerror}") from None


def _hexadecimal(key: Ed25519PublicKey) -> str:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
