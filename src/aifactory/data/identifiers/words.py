"""Words that tell a name, and words that are none. In the lists of alternatives `_` stands for a blank."""

from __future__ import annotations

from aifactory.data.identifiers.fold import bare


def _any(text: str) -> str:
    """Alternatives of a pattern."""
    return "|".join(text.split()).replace("_", " ")


TITLE = _any(
    """
    Dr Prof Mr Mrs Ms Miss Mx Herrn? Frau Fr Hr Sister Schwester Pfleger Nurse RN Matron Kollegen?
    Kollegin PD
    """
)
RELATION = _any(
    """
    wife husband spouse mother father parents? son daughter sister brother grandmother grandfather
    grandson granddaughter niece nephew aunt uncle cousin partner girlfriend boyfriend gf bf fiancée?
    friend neighbou?r flatmate carer guardian widow widower in-law ehemann ehefrau frau mann mutter
    vater sohn tochter schwester bruder nichte neffe oma opa großmutter großvater enkelin enkel tante
    onkel cousine nachbarin nachbar freundin freund partnerin lebensgefährtin lebensgefährte betreuerin
    betreuer bevollmächtigter? schwager schwägerin angehörige children kinder twins
    """
)
ROLE = _any(
    """
    surgeon physician counsell?or pharmacist dietitian gp consultant therapist physiotherapist midwife
    doctor teacher lawyer radiologist landlord hausarzt hausärztin arzt ärztin oberarzt oberärztin
    chefarzt ansprechpartner ansprechpartnerin therapeut therapeutin hebamme apotheker apothekerin
    praxis visite anwalt lehrerin
    """
)
DONE = _any(
    """
    signed seen_by reviewed_by dictated_by typed_by verified_by read_by written_by reported_by informed
    told spoke_to spoke_with discussed_with spoken_to call_from called_to caller contact handed_over_to
    asked_by referred_by care_of asking_for accompanied_by validiert gez\\. unterschrieben informiert
    rückfragen_an gespräch_mit streit_mit besprochen_mit present cc
    """
)
ORDINARY = frozenset(
    bare(word)
    for word in f"""
    {RELATION.replace("|", " ").replace("?", "")} {ROLE.replace("|", " ").replace("?", "")}
    The This That She He They It We You I In On At An A And Or But No Not Is Was Has Had His Her Their
    Our My Er Sie Es Die Der Das Den Dem Ein Eine Am Im Bei Mit Und Oder Nach Vor Zur Zum Vom Von Seit
    Wir Ich Ihr Seine Ihre Kein Keine Patient Patientin Patienten Pat Pt Dr Prof Med MD RN GP Mr Mrs Ms
    Miss Herr Herrn Frau Kollege Kollegin Doctor Nurse Phone Telephone Telefon Tel Fax Email Mail Mobile
    Cell Date Datum Address Anschrift Ward Station Clinic Klinik Plan Seen Signed Next Follow Continue
    Weight Blood Home Denies States Told Call Caller Please Thank Number Nummer Card Wohnung Haus Kind
    Kinder Familie Family Hospital Krankenhaus Reha Therapie Verband Termin Monday Tuesday Wednesday
    Thursday Friday Saturday Sunday Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag January
    February March April May June July August September October November December Januar Februar März
    Mai Juni Juli Oktober Dezember Emergency Department Time Room Reason Record Contact Husband Wife
    Mother Father Son Daughter Sister Brother Hilfe Fallnummer Visite Geschwister Nachbarin Barthel
    Kopie Ambulanz Entlassung Aufnahme Verlauf Befund Diagnosen Typ Grad Streptococcus Staphylococcus
    Escherichia Pseudomonas Klebsiella Candida Clostridium Helicobacter Mycobacterium English German
    French Spanish Italian Turkish Polish Russian Christmas Easter Parkinson Alzheimer Crohn Hodgkin
    Doppler Glasgow Foley Holter Babinski Romberg Lasègue Tourette Addison Cushing Hashimoto Basedow
    Europe Germany
    """.split()
)
"""Capitalized words of notes that are nobody's name."""
ENGLISH_MONTHS = _any("January February March April May June July August September October November December").split(
    "|"
)
GERMAN_MONTHS = _any("Januar Februar März April Mai Juni Juli August September Oktober November Dezember").split("|")
