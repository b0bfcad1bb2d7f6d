# SPDX-License-Identifier: Apache-2.0
"""Words in column names that suggest roles: plain data, meant to be read and extended.

How a word matches. A column's name is cut at separators, where capitals begin and before digits (``patientZIP_code2``
gives *patient*, *zip*, *code*, *2*); accents and capitals are ignored. A word matches a whole piece, or two or three
neighbours written together (*zipcode*); a word with a star matches how they begin (``diagnos*``: diagnosis, Diagnose,
diagnostico). English, German, French and Spanish words stand side by side, with some Italian and Portuguese ones: lists
this short need no language.

Which list wins. `PERSONAL` says identity whatever else the name holds, unless the values are dates. Then the leftmost
word of `QUASI` and `SENSITIVE` decides (*age at diagnosis* is an age, *diagnosis date* a diagnosis), and of two at the
same place the longer one (*sex* is known to others, *sex partners* is not). `NAMES` and `NUMBERS` come last, for
*country name* is a country and *diagnosis code* a diagnosis.

The words were chosen by what such columns are called in general, with Adult and the stops of New Orleans at hand, and
judged on other tables: docs/how-to/yes-no-columns.md says with which result.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = [
    "AMOUNTS",
    "BODIES",
    "CODES",
    "EITHER_WEIGHTS",
    "NAMES",
    "NUMBERS",
    "ORIGIN",
    "PERSONAL",
    "POSTCODES",
    "QUASI",
    "ROWS",
    "SENSITIVE",
    "WEIGHTS",
    "Match",
    "first_match",
]

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
    zip* postcode* postal* plz postleitzahl* cap cep city town village municipal* county state region* provin*
    district* suburb neighbo* policedistrict* policeprecinct* stadt gemeinde* bundesland kreis ville commune
    departement ciudad* municipio* citta cidade* residen* wohnort location lat latitude lon lng longitude country*
    nation* citizen* land pays pais paese staatsang*
    race* black rasse raza ethnic* ethnie* etnia* ancestry origin* hispanic* herkunft*
    language* sprache langue idioma lingua
    educ* degree school* studies bildung* abschluss* etudes istruzione escolaridade
    marital* married spouse familienstand estadocivil etatcivil statocivile relationship household* children
    kinder enfants hijos figli filhos
    employer* workclass veteran* military height
    hospital* ward admission* admitted discharge* death* deceased*
"""
"""What a neighbour, an employer or a public register knows about a person."""

POSTCODES = """
    zip* postcode* postal* plz postleitzahl* cap cep
"""
"""Codes of places, which are no amounts, and may begin with zeros."""

ORIGIN = """
    race* black ethnic* ancestry hispanic* herkunft* rasse ethnie* origine* raza etnia* tribe tribu
"""
"""Ethnic origin: others may see it, and many laws protect it as a sensitive value; what it is must be decided."""

SENSITIVE = {
    "health": """
        disease* diag* dx icd icd9 icd10 illness* sickness* condition* symptom* disorder* syndrome* comorbid*
        medication* medicine* drug* treatment* treated therap* prescription* procedure* surgery operation* dose dosage
        hiv aids cancer* tumo* carcinoma* disab* handicap* pregnan* addiction* abuse genetic* mutation* allerg* asthma*
        diabet* insulin* depress* anxiety* mental* psych* suicid* stress* dementia* alzheimer* epilep* stroke* heart*
        cardi* coronary angina hypertens* arthrit* obes* bmi kidney* renal liver hepat* infect* virus* covid* sars*
        tubercul* vaccin* immuni* injur* wound* pain smok* tobacco* cigar* alcohol* drink* marij* cannabis* readmi*
        health* generalhealth* sleeptrouble* impairment* hearing* vision blind* deaf* transplant* implant* prognosis
        krank* gesundheit* medikament* behandlung* behinder* schwanger* raucher* rauchen* sucht* impfung* verletz*
        schmerz* erkrankung* zucker* bluthochdruck*
        maladie* malade* sante traitement* medicament* grossesse* enceinte* fumeu* tabac* blessure* douleur* invalid*
        enfermedad* enferm* salud tratamiento* medicamento* embaraz* fumador* tabaco* lesion* dolor* discapac*
        malattia* doenca* saude salute
    """,
    "sexual life": """
        sexual* sexlife sexever* sexage* sexorient* sexpartner* sexnumpart* partnersex samesex homosexual* heterosexual*
        bisexual* lgbt* gay lesbian transgender* contracept* abortion* affair* prostitut* syphilis chlamydia* gonorrh*
        verhutung* abtreibung* avortement* aborto* orientierung* orientacion* orientation*
    """,
    "test result": """
        hba1c* a1c* glu glucose* glycem* glyc* chol* hdl ldl triglycerid* creatin* albumin* bilirubin* hemoglobin*
        haemoglobin* hematocrit* platelet* leukocyt* lymphocyt* ferritin* testosteron* estrad* thyroid* tsh crp psa cd4
        viralload* bloodpress* bloodsugar* bloodgroup* bloodtype* bloodtest* systol* diastol* sbp dbp bp bpsys* bpdia*
        pulse ecg ekg eeg mri biops* serolog* antibod* antigen* pcr urine* labresult* labtest* labvalue* testresult*
        testtype* screening* result* outcome* score* grade* gpa exam* iq
        blutdruck* blutzucker* blutgruppe* laborwert* befund* ergebnis* note noten prufung* testergebnis*
        tension* glycemie* resultat* analyse* groupesanguin* examen* notes
        presionarterial* glucosa* colesterol* resultado* analisis gruposanguineo* calificacion* nota notas
    """,
    "belief": """
        relig* faith church* denomination* worship* konfession* glaube* kirche* croyance* eglise* creencia* iglesia*
        culto politic* party partei* parti partido* vote* voted voter* voting wahl wahler* ideolog* opinion*
        union unionmember* laborunion* tradeunion* gewerkschaft* syndicat* sindicat* philosoph*
        weltanschauung*
    """,
    "offence": """
        crime* criminal* offence* offense* offend* arrest* conviction* convict* felon* misdemean* prison* jail* recid*
        sentence* sentenced verdict* guilty parole* probation* violation* weapon* contraband* chargedesc* chargedegree*
        police* suspect* priors
        straftat* straffall* vorstrafe* verurteil* verbrech* haft haftstrafe* verstoss*
        delit* condamn* infraction* detenu* condena* antecedente* arresto* preso crimen* reincid*
    """,
    "money": """
        salar* income* wage* earn* payroll pay bonus* capitalgain* capitalloss* dividend* debt* loan* mortgage* rent
        credit* wealth* asset* bankrupt* default* poverty* welfare* benefit* pension* tax* balance savings revenue
        insurancecharge* charges expens* networth
        gehalt* einkommen* lohn* vermogen* schuld* kredit* darlehen* rente* miete steuer* armut* sozialhilfe*
        revenu* salaire* dette* loyer* impot* patrimoine* pauvret* retraite* emprunt*
        sueldo* salario* ingreso* renta deuda* prestamo* hipoteca* impuesto* pobreza* nomina patrimonio
        stipendio reddito renda
    """,
    "work": """
        occupation* profession* job beruf* metier ocupacion* ocupacao* occupazione unemploy* jobless arbeitslos*
        chomage* desempleo* paro attrition layoff* performancerating*
    """,
}
"""What must not be learned about a person, by topic, the gravest first. Work is on both sides: sensitive where the
table holds nothing better to protect, and a quasi-identifier otherwise."""

NAMES = """
    name nombre nome username login
"""
"""Names of people, unless a word above says of what they are the name."""

NUMBERS = """
    id ids uid uuid guid pid respid* respnr* key number num nr numero nummer record* code
    person individual respondent* patient* client* customer* member* employee*
    student* subject* user* kunde* kundennummer cliente* matricul* account*
"""
"""Numbers of people or of things: an identifier only if the values hardly repeat."""

ROWS = """
    rowname* rownum* rowno rowid rowindex* zeilennum* numeroligne numerofila
"""
"""Numbers of rows."""

WEIGHTS = """
    weight weights wgt wt pond* fnlwgt pspwght hochrechnung* gewichtung* gewichtsfaktor* poids peso
"""
"""Survey weights, unless bodies are weighed."""

EITHER_WEIGHTS = """
    gewicht gewichte
"""
"""Survey weights if their mean is about 1, for bodies are called so too."""

BODIES = """
    kg kilo* lb lbs pound* gram* body birth* bmi height korper* geburt*
"""
"""Pieces of a name that show that a weight is that of a body."""

AMOUNTS = """
    amount* betrag* montant* importe* cantidad* count* anzahl* numberof* nombrede* numerode* sum total* mean average*
    durchschnitt* moyenne* promedio* rate rates percent* prozent* share* ratio* per pro
    age alter edad idade year* jahr* annee* ans ano anos month* monat* mois mes meses week* woche* semaine* semana*
    day* tage jour* dia dias hour* stunde* heure* hora* minute* duration* dauer* duree* duracion* time zeit temps tiempo
    length* lange longueur* size* height* grosse taille weight* gewicht* poids peso bmi dose dosage dosis pulse
    temperature* temperatur* distance* cost* kosten* cout* coste* costo* price* preis* prix precio*
"""
"""What is counted or measured, besides money and results of tests."""

CODES = """
    code codes codigo* codice* schlussel* kennziffer* icd* isco* naics nace drg* snomed* loinc* class* klasse* category*
    kategorie* categorie* categoria* type typ tipo
"""
"""Numbers that stand for something, whatever else the name holds."""


class Match(NamedTuple):
    """The piece of a name that matched, and where it begins."""

    position: int
    piece: str

    def precedes(self, other: Match) -> bool:
        """Whether it comes before another match, or is longer at the same place."""
        return (self.position, -len(self.piece)) < (other.position, -len(other.piece))


def first_match(name: str, words: str) -> Match | None:
    """Find the leftmost piece of a column's name that one of the words matches.

    >>> first_match("dateOfBirth", QUASI)
    Match(position=2, piece='birth')
    >>> first_match("ZIP-Code", QUASI).piece, first_match("código_postal", QUASI).piece
    ('zip', 'postal')
    >>> first_match("agency", QUASI) is None, first_match("race3", QUASI).piece
    (True, 'race')
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
    """Split a name at separators, at capital letters and before digits; remove accents and capitals."""
    cut = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    bare = "".join(c for c in unicodedata.normalize("NFKD", cut) if not unicodedata.combining(c))
    return re.findall(r"[^\W\d_]+|\d[^\W_]*", bare.casefold())
