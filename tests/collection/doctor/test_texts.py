"""Empty texts, and texts that occur twice."""

from __future__ import annotations


def test_empty_and_repeated_documents(beir, findings):
    corpus = [
        {"_id": "1", "title": "Wings", "text": "carry the load"},
        {"_id": "2", "text": ""},
        {"_id": "3", "title": "wings", "text": "carry  the\nLOAD"},
        {"_id": "4", "title": None, "text": " \n"},
        {"_id": "5", "text": "wings carry the load"},
        {"_id": "6", "title": "Wings", "text": ""},
        {"_id": "7", "title": "Other wings", "text": "carry the load"},
    ]
    assert findings(beir(corpus)) == {
        "empty documents": ("warning", 2, ["corpus.jsonl:2", "corpus.jsonl:4"]),
        "duplicate documents": ("warning", 2, ["corpus.jsonl:3", "corpus.jsonl:5"]),
    }


def test_repeated_queries_and_an_empty_one(beir, findings):
    queries = [{"_id": "q", "text": "What is lift?"}, {"_id": "r", "text": "what is  lift?"}, {"_id": "s", "text": ""}]
    assert findings(beir([{"_id": "1", "text": "x"}], queries)) == {
        "duplicate queries": ("note", 1, ["queries.jsonl:2"]),
        "rows that are left out": ("warning", 1, ["queries.jsonl:3"]),
    }


def test_an_example_names_the_first_of_the_two(beir):
    from retrolex.collection.doctor import examine

    found = examine(beir([{"_id": str(i), "text": text} for i, text in enumerate("xyx")])).findings
    assert found[0].examples[0].what == "the same text as at corpus.jsonl:1"


def test_files_of_a_folder(write, findings):
    for name, text in (("a.md", "# Same\ntext"), ("b/c.txt", "Same text"), ("d.txt", "")):
        source = write(f"notes/{name}", text)
    folder = next(parent for parent in source.parents if parent.name == "notes")
    assert findings(folder) == {
        "duplicate documents": ("warning", 1, ["b/c.txt:1"]),
        "empty documents": ("warning", 1, ["d.txt:1"]),
    }
