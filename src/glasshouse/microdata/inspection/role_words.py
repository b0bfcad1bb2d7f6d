# SPDX-License-Identifier: Apache-2.0
"""Words in a column's name that tell its role: plain data for `inspect`, meant to be read and extended.

How a word matches. A column's name is cut at separators and where capitals begin (``patientZIP_code`` gives *patient*,
*zip*, *code*); accents and capitals are ignored. A word matches a whole piece, or two or three neighbours written
together (*zipcode*); a word with a star matches how they begin (``diagnos*``: diagnosis, Diagnose, diagnostico).
English, German, French, Spanish, Italian and Portuguese words stand side by side: lists this short need no language.

Which list wins. `PERSONAL` says identity whatever else the name holds. Then the leftmost word of `QUASI` and
`SENSITIVE` decides (*age at diagnosis* is an age, *diagnosis date* a diagnosis). `NAMES` and `NUMBERS` come last, for
*country name* is a country and *diagnosis code* a diagnosis.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = ["NAMES", "NUMBERS", "PERSONAL", "QUASI", "SENSITIVE", "Match", "first_match"]

PERSONAL = """
    ssn socialsecurity* nationalid* taxid passport* driverslicen* licenceplate* licenseplate* kennzeichen
    email* mail phone* telephone* telefon* telefono* mobile fax iban creditcard* accountn* kontonummer ipaddress url
    surname lastname familyname firstname forename givenname fullname maidenname nachname vorname nom prenom
    apellido* cognome sobrenome address* adresse* direccion* indirizzo* street* strasse* mrn medicalrecord*
    insurancenumber* versichertennummer steuernummer dni nif cpf nir
"""
"""Direct identifiers: each names or reaches one person, however often it repeats."""

QUASI = """
    age alter edad eta idade birth* born dob geburt* naissance* nacimiento* nascita* nascimento*
    sex gender geschlecht sexe sexo sesso genero genre
    zip* postcode* postal* plz postleitzahl* cap cep city town village municipal* county state region* provin* district*
    suburb stadt gemeinde* bundesland kreis ville commune departement ciudad* municipio* citta cidade* residen* wohnort
    location latitude longitude country* nation* citizen* land pays pais paese staatsang*
    race ethnic* ancestry origin hispanic* herkunft* language* sprache langue idioma lingua
    education* degree school* studies bildung* abschluss* etudes educacion* istruzione escolaridade
    marital* married spouse familienstand estadocivil etatcivil statocivile relationship household* children
    kinder enfants hijos figli filhos
    employer* workclass veteran* military height
    hospital* ward admission* admitted discharge* death* deceased*
"""
"""What a neighbour, an employer or a public register knows about a person."""

SENSITIVE = {
    "health": """
        disease* diagnos* icd icd9 icd10 illness* sickness* condition* symptom* disorder* medication* drug* treatment*
        therap* prescription* procedure* surgery hiv cancer* tumo* disab* pregnan* addiction* genetic* mutation*
        krankheit* medikament* behandlung* maladie* traitement* enfermedad* tratamiento* malattia* doenca*
    """,
    "conviction": """
        relig* faith konfession* politic* party partei vote* voting ideolog* orientation* union gewerkschaft* syndicat*
        crime* criminal* offence* offense* arrest* conviction* delit* straftat*
    """,
    "money": """
        salar* income* wage* earning* payroll capitalgain* capitalloss* dividend* debt* loan*
        credit* wealth asset* bankrupt* gehalt* einkommen* lohn* vermogen* schuld*
        revenu* sueldo* ingreso* renta stipendio reddito renda
    """,
    "work": """
        occupation* profession* job beruf* metier ocupacion* ocupacao* occupazione
    """,
}
"""What must not be learned about a person, by topic, the gravest first. Work is on both sides: sensitive where the
table holds nothing better to protect, and a quasi-identifier otherwise."""

NAMES = """
    name nombre nome username login
"""
"""Names of people, unless a word above says of what they are the name."""

NUMBERS = """
    id ids uid uuid guid pid key number num nr numero nummer record* code index
    person individual respondent* patient* client* customer* member* employee*
    student* subject* user* kunde* kundennummer cliente* matricul* account*
"""
"""Numbers of people or of things: an identifier only if the values hardly repeat."""


class Match(NamedTuple):
    """The piece of a name that matched, and where it begins."""

    position: int
    piece: str


def first_match(name: str, words: str) -> Match | None:
    """Find the leftmost piece of a column's name that one of the words matches.

    >>> first_match("dateOfBirth", QUASI)
    Match(position=2, piece='birth')
    >>> first_match("ZIP-Code", QUASI).piece, first_match("código_postal", QUASI).piece
    ('zip', 'postal')
    >>> first_match("agency", QUASI) is None
    True
    """
    pieces = _pieces(name)
    wanted = words.split()
    whole = {word for word in wanted if not word.endswith("*")}
    beginnings = tuple(word[:-1] for word in wanted if word.endswith("*"))
    for position in range(len(pieces)):
        for length in (1, 2, 3):
            piece = "".join(pieces[position : position + length])
            if piece in whole or piece.startswith(beginnings):
                return Match(position, piece)
    return None


def _pieces(name: str) -> list[str]:
    """Cut a name at its separators and where capitals begin; drop accents and capitals."""
    cut = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    bare = "".join(c for c in unicodedata.normalize("NFKD", cut) if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", bare.casefold())
