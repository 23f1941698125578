"""Text that was read with the wrong encoding; and text in other languages, undone: not."""

from __future__ import annotations

import json

import pytest

from retrolex.collection.doctor.encodings import undo_double


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("it is \x93smart\x94, isn\x92t it", "control characters (Windows-1252 in UTF-8)"),
        ("a caf\u00c3\u00a9 in town", "text encoded twice"),
        ("\u00cb\x88ke\u00c9\u00aanz", "text encoded twice"),  # a line of MS MARCO
        ("\u4e2d\u6587 and it\u00e2\u20ac\u2122s", "text encoded twice"),
        ("a cafe\u0301 in town", "decomposed letters (NFD)"),
        ("two\x00words", "NUL characters"),
        ("one file\ufeffanother file", "byte order marks inside texts"),
        ("half a pair \ud83d here", "half surrogate pairs"),
    ],
)
def test_each_fault_alone(write, findings, text, name):
    lines = [json.dumps({"_id": id, "text": value}) for id, value in (("1", "clean"), ("2", text), ("3", "caf\u00e9"), ("4", f"again {text}"))]
    found = findings(write("a.jsonl", "\n".join(lines)))
    assert found == {name: ("warning", 2, ["a.jsonl:2", "a.jsonl:4"])}


def test_lost_letters_are_a_note_for_a_text_may_be_about_them(write, findings):
    found = findings(write("a.txt", "one\nlost \ufffd letters\n"))
    assert found == {"replacement characters (U+FFFD)": ("note", 1, ["a.txt:2"])}


def test_titles_ids_and_queries_are_looked_at(beir, findings):
    corpus = [{"_id": "cafe\u0301", "text": "x"}, {"_id": "2", "title": "cafe\u0301", "text": "y"}]
    found = findings(beir(corpus, [{"_id": "q", "text": "\u00c3\u00a9t\u00c3\u00a9"}]))
    assert found == {
        "decomposed letters (NFD)": ("warning", 2, ["corpus.jsonl:1", "corpus.jsonl:2"]),
        "text encoded twice": ("warning", 1, ["queries.jsonl:1"]),
    }


def test_byte_order_marks_at_the_start_of_files(beir, findings, write):
    folder = beir(b'\xef\xbb\xbf{"_id": "1", "text": "x"}\n')
    write("data/qrels/test.tsv", b"\xef\xbb\xbfq\t1\t1\n")
    write("data/queries.jsonl", '{"_id": "q", "text": "which?"}\n')
    assert findings(folder) == {"files with a byte order mark": ("note", 2, ["corpus.jsonl:1", "qrels/test.tsv:1"])}


def test_bytes_that_are_not_utf8(write, findings):
    source = write("a.txt", b"one\nsmart \x93quotes\x94\nthree\n")
    assert findings(source) == {"rows that are left out": ("warning", 1, ["a.txt:2"])}


@pytest.mark.parametrize(
    "text",
    [
        "caf\u00e9, na\u00efve, \u00dcber, S\u00e3o Paulo, \u00c5ngstr\u00f6m, \u00abCAF\u00c9\u00bb, \u201eGR\u00dc\u201c, caf\u00e9\u201d\u2014he",
        "\u0939\u093f\u0928\u094d\u0926\u0940 \u0958",  # has no composed form, or is taken apart by NFC
        "\u4e2d\u6587\uff0c\u6807\u70b9\u3002 \uac00 \u30d7\u30ed \uf900",
        "\u05d1\u05bc \u0627\u0644\u0639\u064e \u212b 5 \u00b0C \u00a320",
        "\U0001f469\u200d\U0001f469 \u2028 a\u00a0b",
    ],
)
def test_languages_are_no_faults(write, findings, text):
    assert findings(write("a.txt", text)) == {}
    assert undo_double(text) == text


def test_what_was_meant_is_shown(write):
    from retrolex.collection.doctor import examine

    found = examine(write("a.txt", "l'\u00c3\u00a9t\u00c3\u00a9")).findings
    assert found[0].examples[0].what == '"l\'\u00c3\u00a9t\u00c3\u00a9", undone: "l\'\u00e9t\u00e9"'
