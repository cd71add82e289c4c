"""Capitalized words of medicine that are nobody's name in a note: eponyms, institutions, scales, endings of terms."""

from __future__ import annotations

import re

from aifactory.data.identifiers.fold import bare, words_of

EPONYMS = words_of("""
    Parkinson Alzheimer Crohn Hodgkin Doppler Glasgow Foley Holter Babinski Romberg Lasègue Tourette Addison Cushing
    Hashimoto Basedow Graves Bell Wilson Huntington Raynaud Sjögren Sjogren Behçet Behcet Kawasaki Guillain
    Barré Barre
    Ménière Meniere Dupuytren Bechterew Scheuermann Perthes Schlatter Baker Charcot Marie Tooth Lewy Korsakoff
    Wernicke
    Broca Pick Binswanger Creutzfeldt Jakob Down Turner Klinefelter Marfan Ehlers Danlos Noonan Barrett Zenker Meckel
    Billroth Roux Whipple Hartmann Nissen Heller McBurney Murphy Blumberg Rovsing Courvoisier Virchow Trendelenburg
    Veress Calot Kocher Pean Redon Robinson Jackson Pratt Hickman Swan Ganz Seldinger Tenckhoff Sengstaken Kehr
    Mallory
    Weiss Apgar Barthel Tinetti Norton Braden Waterlow Karnofsky Bishop Ballard Tanner Gleason Dukes Breslow
    Clark Fuhrman
    Child Pugh Ranson Killip Wells Rutherford Fontaine Wagner Gustilo Salter Harris Weber Garden Pauwels Neer Ficat
    Kellgren Lawrence Outerbridge Lachman McMurray Apley Thompson Thomas Tinel Phalen Spurling Patrick Schober Ott
    Hoffmann Kernig Brudzinski Gowers Hoffa Pavlik Ilizarov Kirschner Steinmann Colles Smith Barton Bennett Galeazzi
    Monteggia Lisfranc Chopart Jones Pott Bosworth Hill Sachs Bankart Snellen Ishihara Amsler Goldmann Schirmer Horner
    Argyll Weber Rinne Dix Hallpike Epley Semont Unterberger Esslinger Vanderbilt Beck Hamilton Conners Wechsler Raven
    Rorschach Stroop Edinburgh Montreal Boston Rivermead Berg Oxford Oswestry Roland Morris Borg Likert Schmorl Modic
    Simpson Teichholz Fick Swan Bernoulli Fridericia Bazett Cockcroft Gault Friedewald Ross Fontan Glenn Norwood
    Blalock
    Bentall David Ozaki Sokolow Lyon Wenckebach Mobitz Brugada Wolff White Kent Osler Roth Janeway Duke Jones
    Still Felty
    Wegener Churg Strauss Takayasu Horton Goodpasture Alport Conn Bartter Gitelman Fanconi Gaucher Fabry Pompe Hunter
    Hurler Gilbert Rotor Dubin Johnson Budd Chiari Caroli Mirizzi Zollinger Ellison Menetrier Ogilvie
    Hirschsprung Paget
    Ewing Wilms Kaposi Merkel Bowen Burkitt Sézary Waldenström Bence Reed Sternberg Auer Heinz Howell Jolly
    Coombs Rhesus
    Duffy Kell Kidd Lugol Schilling Quick Duke Ziehl Neelsen Gram Giemsa Mantoux Widal Koplik Nikolsky Auspitz Köbner
    Koebner Wickham Lyme Epstein Barr Norwalk Hansen Chagas Weil Lancefield Pneumocystis Kussmaul Cheyne Stokes Biot
    Heimlich Valsalva Sellick Mallampati Cormack Lehane Guedel Magill Macintosh Miller Bain Ringer Hartmann
    Fowler Sims
    Kegel Burch Leopold Spalding Bartholin Douglas Nabothi Braxton Hicks Naegele Down Edwards Patau Pierre Robin
    """)
"""Persons after whom a disease, a sign, a test, a tool or a germ is called."""
TERMS = words_of("""
    Albicans Aureus Coli Pylori Difficile Candida Escherichia Staphylococcus Streptococcus Influenza Covid
    Corona Hepatitis
    Boots Medicare Medicaid Zoom Teams Word Excel Google Internet Skype Whatsapp Facebook Bible Koran Christmas Easter
    Ostern Weihnachten Silvester British English Scottish Welsh Irish American African Asian European Indian Chinese
    Polish Turkish German French Spanish Italian Russian Deutsch Türkisch Polnisch Russisch Englisch Muslim Christian
    Jewish Catholic Katholisch Evangelisch Europe Germany Deutschland England Scotland Wales Ireland America
    Österreich
    Schweiz Latin Latex Vicryl Prolene Ethilon Monocryl Mersilene Steristrip Octenisept Betadine Tegaderm Mepilex
    Arteria Vena Nervus Musculus Ligamentum Ramus Processus Os Corpus Ductus Foramen Status Diabetes Mellitus
    Ulcus Cruris
    """)
"""Germs, brands, peoples, countries, parts of the body in Latin."""
AFTER = words_of("""
    hospital infirmary clinic centre center unit ward surgery practice department trust pharmacy school university
    college house hospice court society foundation scale score index test sign criteria criterion classification
    procedure syndrome disease palsy fracture tube catheter line drain reflex operation manoeuvre maneuver
    protocol stage
    grade type class lymphoma sarcoma tumour tumor cyst contracture phenomenon ulcer oesophagus esophagus general
    memorial royal council library station airport church street road avenue klinik klinikum krankenhaus spital
    kreiskrankenhaus skala index schema zeichen syndrom krankheit nadel dreieck katheter drainage sonde klassifikation
    phänomen manöver lagerung fraktur tumor reflex versuch probe lösung schiene verband apotheke schule verlag
    thyroiditis disease's body bodies tablets cream ointment
    """)
"""What makes the word before it the name of a place, a scale or a disease."""
ENDING = re.compile(
    r"(?:tion|sion|ität|heit|keit|schaft|ismus|ungen|itis|osis|ose|osen|ektomie|ectomy|skopie|scopy|"
    r"graphie|graphy|grafie|"
    r"ologie|ology|pathie|pathy|therapie|therapy|ämie|emia|aemia|urie|uria|plegie|plegia|plastie|"
    r"plasty|tomie|tomy|gramm|"
    r"pril|olol|sartan|statin|azole?|cillin|mycin|floxacin|mab|nib|parin|xaban|gliptin|gliflozin|"
    r"triptan|setron|tidine?|"
    r"prazole?|dipine?|zepam|zolam|caine?|profen|oxetine?|sone?|solone?|thiazide?|semide?|cycline?|"
    r"codone?|formin|azepin|"
    r"ungs\w+|fizienz|karzinom|carcinoma|infarkt|sche[rsnm]?|ische[rsnm]?|bericht|befund|station|"
    r"gespräch|verlauf|dienst|"
    r"kontrolle|aufnahme|gabe|wunde|schmerz\w*|druck|werte?|zeit|tag|woche|arzt|ärztin|plan|fall|"
    r"grad|zimmer|termin|ness|"
    r"ment|ities|ogram|oscope)$"
)
ALLOWED = re.compile(r"(?:son|sson|mann|meier|berg|stein)$")


FAMILIES = words_of("ward house court church park hall college street lane place cream")
"""Those of `AFTER` that are family names as well."""


def is_term(text: str, word: str, end: int, *, first_name: bool = False) -> bool:
    """Whether the capitalized `word`, which ends at `end`, is a term; a pair of it with the next word may be one."""
    key = bare(word)
    if len(key) < 2:
        return False
    if key in TERMS or (not first_name and len(key) > 5 and ENDING.search(key) and not ALLOWED.search(key)):
        return True
    following = re.compile(r"(?:['’]s)?[\s-]+([^\W\d_]+)").match(text, end)
    after = bare(following.group(1)) if following else ""
    return after in AFTER and not (first_name and after in FAMILIES)
