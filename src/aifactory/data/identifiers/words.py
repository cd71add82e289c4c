"""Words that tell a name, and words that are none. In the lists of alternatives `_` stands for a blank."""

from __future__ import annotations

from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.terms import TERMS


def _any(text: str) -> str:
    """Alternatives of a pattern."""
    return "|".join(text.split()).replace("_", " ")


TITLE = _any(
    """
    Dr Prof Mr Mrs Ms Miss Mx Master Mister Rev Reverend Pastor Pfarrer Pfarrerin Sir Lady Herrn? Frau Fr Hr
    Sister Schwester Sr Pfleger Pfl Pflegerin Nurse RN Matron Kollegen? Koll Kollegin PD
    Officer Sergeant Paramedic Staff_Nurse Charge_Nurse Student_Nurse Nurse_Practitioner
    Schwesternschülerin Fam\\. Familie
    """
)
RELATION = _any(
    """
    wife husband spouse mother father parents? son daughter sister brother grandmother grandfather
    grandson granddaughter niece nephew aunt uncle cousin partner girlfriend boyfriend gf bf fiancée?
    friend neighbou?r flatmate carer guardian widow widower in-law ehemann ehefrau frau mann mutter
    vater sohn tochter schwester bruder nichte neffe oma opa großmutter großvater enkelin enkel tante
    mum mom mam dad daddy mama papa grandma grandpa granny nan nana grandad granddad stepmother stepfather stepson
    stepdaughter stepsister stepbrother mother-in-law father-in-law son-in-law daughter-in-law sister-in-law
    brother-in-law fiancé boyfriend roommate housemate landlady ex-wife ex-husband godmother godfather great-aunt
    great-uncle great-grandmother great-grandfather baby toddler sibling boss colleague uroma uropa stiefmutter
    stiefvater stiefsohn stieftochter schwiegermutter schwiegervater schwiegersohn schwiegertochter großtante
    patentante
    zwillingsschwester zwillingsbruder mitbewohnerin mitbewohner verlobter? verlobte witwe witwer exmann exfrau
    pflegerin kollegin kollege chef chefin bekannte[rn]? partnerin lebenspartner lebenspartnerin patin pate
    onkel cousine nachbarin nachbar freundin freund partnerin lebensgefährtin lebensgefährte betreuerin
    betreuer bevollmächtigter? schwager schwägerin angehörige children kinder twins
    """
)
ROLE = _any(
    """
    vicar priest sponsor hygienist optometrist optician dentist solicitor pharmacy_technician key_worker keyworker
    social_worker case_manager health_visitor care_coordinator anaesthetist anesthesiologist psychologist psychiatrist
    registrar resident intern attending fellow nurse caller interpreter witness operator sonographer radiographer
    technician clinician oncologist cardiologist neurologist podiatrist chaplain bezugspflege bezugsperson
    operateurin?
    operateur assistenz anästhesie anästhesist anästhesistin logopädin logopäde ergotherapeutin ergotherapeut
    physiotherapeutin physiotherapeut psychologin psychologe sozialarbeiterin sozialarbeiter stationsarzt
    stationsärztin
    assistenzarzt assistenzärztin dolmetscherin dolmetscher notarzt notärztin seelsorger seelsorgerin zahnarzt
    zahnärztin
    facharzt fachärztin kinderarzt kinderärztin einsender überweiser rechtsanwalt rechtsanwältin erzieherin
    surgeon physician counsell?or pharmacist dietitian gp consultant therapist physiotherapist midwife
    doctor teacher lawyer radiologist landlord hausarzt hausärztin arzt ärztin oberarzt oberärztin
    chefarzt ansprechpartner ansprechpartnerin therapeut therapeutin hebamme apotheker apothekerin
    praxis visite anwalt lehrerin
    """
)
DONE = _any(
    """
    called named known_as named_as signed_by by_name_of i\\.\\s?A\\. i\\.\\s?V\\. i\\.A\\. pp p\\.p\\. heißt
    namens genannt erstellt_von
    geschrieben_von ausgefüllt_von diktiert_von aufgenommen_von übernommen_von durchgeführt_von completed_by taken_by
    performed_by prepared_by entered_by recorded_by transcribed_by checked_by witnessed_by approved_by
    authori[sz]ed_by
    ordered_by requested_by collected_by assessed_by treated_by examined_by escorted_by brought_in_by
    received_from report_from rang_by übergeben_an übergabe_an übergabe_von kopie_an nachrichtlich z\\.\\s?K\\. laut
    according_to per attn ref_by referrer author signed seen_by reviewed_by dictated_by typed_by verified_by
    read_by written_by reported_by informed
    told spoke_to spoke_with discussed_with spoken_to call_from called_to caller contact handed_over_to
    asked_by referred_by care_of asking_for accompanied_by validiert gez\\. unterschrieben informiert
    rückfragen_an gespräch_mit streit_mit besprochen_mit present cc
    """
)
ORDINARY = (
    frozenset(
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
    Europe Germany Eingriff Alter Wohnort Geburtsname Risks Relative Foto Bild Labor Pflege Notfall Medikation
    Anamnese
    Diagnose Procere Empfehlung Beurteilung Untersuchung Allergien Allergies Medication Medications Assessment
    Impression Findings History Examination Indication Technique Comment Conclusion Recommendation Discharge Admission
    Normal None Nil Yes Negative Positive Unknown Keine Unauffällig Regelrecht Ja Nein Links Rechts Left Right Today
    Tomorrow Yesterday Heute Morgen Gestern Tonight Night Day Morning Evening Also Then When While If So For From With
    By To Of As There What Who Why How Please Thanks Dear Both All Some Many After Before During Since Until
    Once Still
    Now Just Can Could Would Should May Might Must Will Let See Key Line Team Staff Care Nursing Consent
    Signature Name
    First Second Third Last Other New Old Good Well Bad Mild Severe Acute Chronic Pain Chest Heart Lung Liver Kidney
    Auch Dann Wenn Weil Dass Nun Jetzt Noch Schon Sehr Nur Ab Bis Um Für Auf Aus Durch Gegen Ohne Unter Über Zwischen
    Hat Ist War Wird Wurde Sind Soll Kann Man Alle Beide Dies Diese Dieser Dieses Hier Dort Laut Sehr Gut Kam Des Gab
    Chefarzt Sehr Geehrte Geehrter Grüße Gruß Grüßen Freundlichen Freundliche Frage Grund Zustand Hausbesuch Praxis
    Zahn Auge Hand Fuß Bein Arm Kopf Hals Herz Lunge Leber Niere Magen Darm Haut Blut Urin Stuhl Puls Fieber Schmerz
    Schmerzen Tochter Sohn Enkel Team Heim Schule Arbeit Beruf Rente Hund Garten Wetter Winter Sommer Herbst Frühling
    Autumn Spring Summer Angehörige Angehöriger Ehepartner Wohnhaft Straße Ort Land Sprache Konfession Beruf Kasse
    Keiner Keine Niemand Nobody Aware Deferred Electronically Pforte Reception Angehörigen Sheet Canadian Pflegeheim
    Per Best IBAN SSN Praxis Kanzlei Visite Schlaf Frailty Mercy MRT CT EKG ECG EEG MRI CRP BMI BP HR RR GP ED
    ICU ITU ITS OP ZNA RTW NEWS GCS DNR CPR PEG PICC NSAID COPD
    """.split()
    )
    | TERMS
)
"""Capitalized words of notes that are nobody's name."""
LEADING = frozenset(bare(word) for word in f"{TITLE}|{RELATION}|{ROLE}".replace("?", "").replace("\\", "").split("|"))
"""Words that stand before a name and tell it."""
ENGLISH_MONTHS = _any("January February March April May June July August September October November December").split(
    "|"
)
GERMAN_MONTHS = _any("Januar Februar März April Mai Juni Juli August September Oktober November Dezember").split("|")
