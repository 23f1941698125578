"""Languages, by script and small words."""

from __future__ import annotations

import pytest

from retrolex.collection.doctor import examine
from retrolex.collection.doctor.languages import language_of
from retrolex.collection.doctor.token_counts import token_counter

TEXTS = {
    "english": "The wing of an aircraft carries the load of the fuselage in steady flight, and it is made from light metal.",
    "german": "Der Flügel eines Flugzeugs trägt die Last des Rumpfes und ist aus leichtem Metall, das nicht rostet.",
    "french": "L'aile d'un avion porte la charge du fuselage et elle est faite dans un métal léger qui ne rouille pas.",
    "spanish": "El ala de un avión lleva la carga del fuselaje y se hace con un metal ligero que no se oxida por el agua.",
    "italian": "L'ala di un aereo porta il carico della fusoliera ed è fatta con un metallo leggero che non arrugginisce per la pioggia.",
    "portuguese": "A asa de um avião leva a carga da fuselagem e é feita com um metal leve que não enferruja nas chuvas do verão.",
    "dutch": "De vleugel van een vliegtuig draagt het gewicht van de romp en is gemaakt van licht metaal dat niet roest.",
    "polish": "Skrzydło samolotu przenosi ciężar kadłuba i jest zrobione z lekkiego metalu, który nie rdzewieje na deszczu ani w wodzie.",
    "turkish": "Bir uçağın kanadı gövdenin yükünü taşır ve bu yük için çok hafif bir metal gibi malzemeler daha uygun olarak görülür.",
    "chinese": "飛機的機翼在穩定飛行中承受機身的重量。",
    "japanese": "飛行機の翼は、安定した飛行中に胴体の重さを支える。",
    "korean": "비행기의 날개는 안정된 비행에서 동체의 무게를 지탱한다.",
    "Cyrillic script": "Крыло самолёта несёт вес фюзеляжа в установившемся полёте.",
    "Arabic script": "يحمل جناح الطائرة وزن جسم الطائرة في الطيران المستقر.",
    "Latin script": "aerofoil flutter boundary layer mach 2.5 wind tunnel",
    "no letters": "12.5 + 17 = 29.5",
}


@pytest.mark.parametrize("language", TEXTS)
def test_one_text_a_language(language):
    assert language_of(TEXTS[language]) == language


def test_a_minority_is_noted(write, findings):
    source = write("a.txt", f"{TEXTS['english']}\n" + "".join(f"{n} {TEXTS['english']}\n" for n in range(8)) + f"{TEXTS['german']}\n")
    assert examine(source, counter=token_counter("words")).languages == {"english": 0.9, "german": 0.1}
    assert findings(source) == {"documents in german (10%)": ("note", 1, ["a.txt:10"])}


def test_queries_in_another_language(beir, findings):
    folder = beir([{"_id": "1", "text": TEXTS["english"]}], [{"_id": "q", "text": TEXTS["chinese"]}])
    assert findings(folder) == {"queries in chinese, documents in english": ("warning", 1, ["queries.jsonl:1"])}
