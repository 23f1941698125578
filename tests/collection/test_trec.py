"""TREC documents, topics and judgments."""

from __future__ import annotations

import gzip
import re

import pytest

from retrolex.collection import Document, import_collection
from retrolex.collection.readers import detect
from retrolex.errors import UserError

NEWS = """<DOC>
<DOCNO> FT911-1 </DOCNO>
<PROFILE>noise</PROFILE>
<HEADLINE>
FT 01 JAN 91 / A headline
</HEADLINE>
<TEXT>
<P>First &amp; best.</P>
<P>Second <F P=105>piece</F>.
</TEXT>
</DOC>
<DOC><DOCNO>AP-2</DOCNO><HEAD>Short</HEAD>
<LEADPARA>Lead.</LEADPARA><TEXT>Rest.</TEXT></DOC> <DOC><DOCNO>3</DOCNO></DOC>
"""
WEB = """<DOC>
<DOCNO>WTX001</DOCNO>
<DOCHDR>
http://example.org
</DOCHDR>
<html><head><title>A page</title><script>no</script></head><body>Seen</body></html>
</DOC>
"""
TOPICS = """<top>
<num> Number: 301
<title> International Organized
 Crime

<desc> Description:
Identify organizations.

<narr> Narrative:
A relevant document names one &lt; two.
</top>

<top>
<num> Number: 302
<desc> Description: only this
</top>
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="covid">
<topic number="1"><query>origin</query><question>what is it?</question><narrative>long</narrative></topic>
<topic number='2'>
<query>immunity</query></topic>
</topics>
"""


@pytest.fixture
def folder(write):
    write("t/docs/ft/a", NEWS)
    write("t/docs/web.gz", gzip.compress(WEB.encode()))
    write("t/topics.301-450.txt", TOPICS)
    write("t/topics.covid.xml", XML)
    write("t/topics.tsv", "9\tplain topic\n")
    write("t/README", "notes")
    write("t/picture.png", b"\x89PNG" + b"\0" * 100)
    write("t/run.bm25.trec", "301 Q0 AP-2 1 2.0 x\n")
    write("t/qrels.dev.txt", "301 0 AP-2 1\n")
    return write("t/qrels.robust.txt", "301 0 FT911-1 2\n1 0 AP-2 -1\n").parent


def test_a_folder(folder, importing, capsys):
    imported = importing(folder)
    assert imported.counts["reader"] == "trec"
    assert list(imported.collection) == [
        Document("FT911-1", "FT 01 JAN 91 / A headline", "First & best.\n\nSecond piece."),
        Document("AP-2", "Short", "Lead.\nRest."),
        Document("3", "", ""),
        Document("WTX001", "A page", "Seen"),
    ]
    assert imported.collection.queries == {"301": "International Organized Crime", "1": "origin", "2": "immunity", "9": "plain topic"}
    assert imported.collection.qrels("test") == {"301": {"FT911-1": 2}, "1": {"AP-2": -1}}
    assert imported.collection.qrels("dev") == {"301": {"AP-2": 1}}
    assert [(reject["file"], reject["line"], reject["reason"]) for reject in imported.rejects] == [
        ("topics.301-450.txt", 13, "topic '302' has no title")
    ]
    assert "3 files that are neither" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "queries"),
    [
        ("desc", {"301": "Identify organizations.", "302": "only this", "1": "what is it?"}),
        ("narr", {"301": "A relevant document names one < two.", "1": "long"}),
        ("title+desc", {"301": "International Organized Crime Identify organizations.", "1": "origin what is it?"}),
    ],
)
def test_the_part_that_is_the_query(folder, importing, part, queries):
    imported = importing(folder, columns={"query": part})
    assert {id: text for id, text in imported.collection.queries.items() if id != "9"} == queries
    assert len(queries) + imported.counts["rejects"] == 4


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("a.trec", "<DOC>\n<DOCNO>1</DOCNO>\n", r"a\.trec:1: a block begins here that is not closed"),
        ("a.trec", "<DOC><DOCNO>1</DOCNO>\n<DOC><DOCNO>2</DOCNO></DOC>", r"a\.trec:1: a block begins here"),
        ("a.trec", "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC><TEXT>x</TEXT></DOC>", r"a\.trec:2: a document without an id"),
        ("a.trec", "<DOC><DOCNO>1</DOCNO></DOC>\n" * 2, r"a\.trec:2: the id '1' has occurred before, at .*a\.trec:1"),
        ("a.trec", "hello\n", r"no documents in it: all 1 rows had to be skipped, the first at .*a\.trec:1: text outside"),
        ("a.trec.gz", gzip.compress(NEWS.encode())[:-9], "damaged or cut gzip"),
    ],
)
def test_refused(write, tmp_path, name, contents, message):
    with pytest.raises(UserError) as caught:
        import_collection(write(name, contents), tmp_path)
    assert re.search(message, str(caught.value))


def test_wrong_parts_and_topics(folder, write, tmp_path):
    for columns, message in (({"query": "head"}, "a topic has no part 'head'"), ({"text": "desc"}, "no column for 'text'")):
        with pytest.raises(UserError, match=message):
            import_collection(folder, tmp_path, columns=columns)
    write("t/topics.more", "<top><title> no number </top>")
    with pytest.raises(UserError, match=r"topics\.more:1: a topic without a number"):
        import_collection(folder, tmp_path)


def test_what_is_skipped_is_listed(write, importing):
    source = write("a.sgml", b"preface\n<DOC><DOCNO>1</DOCNO><TEXT>caf\xe9</TEXT></DOC>\n<docs>\n<doc><docno>2</docno>x</doc> after\n</docs>")
    imported = importing(source)
    assert imported.collection.ids == ["2"] and [(reject["line"]) for reject in imported.rejects] == [1, 2, 4]


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "a.dat", "t/a", "t/b.txt"])
def test_detection_by_contents(write, tmp_path, name):
    path = write(name, gzip.compress(NEWS.encode()) if name.endswith(".gz") else NEWS)
    assert detect(tmp_path / "t" if name.startswith("t/") else path) == "trec"
