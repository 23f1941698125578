from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from retrolex.collection.documents import Document
from retrolex.collection.samples import SAMPLES, python_docs


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    listed = list(python_docs.documents())
    assert len({document.id for document in listed}) == len(listed)
    return {document.id: document for document in listed}


def test_registry_names_the_sample():
    assert SAMPLES["python-docs"] is python_docs


def test_size_and_order(documents):
    assert 5000 <= len(documents) <= 9000
    assert list(documents) == sorted(documents)


def test_every_document_has_a_title_and_a_text(documents):
    assert all(document.title.strip() and document.text.strip() for document in documents.values())
    assert all(document.id in document.title for document in documents.values())


def test_a_second_process_reads_the_same(documents):
    program = "import json; from retrolex.collection.samples import python_docs as p; print(json.dumps(list(p.documents())))"
    again = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert [Document(*row) for row in json.loads(again.stdout)] == list(documents.values())
    assert again.stderr == ""


def test_reading_imports_nothing_here(documents):
    program = (
        "import sys; from retrolex.collection.samples import python_docs as p; before = set(sys.modules); list(p.documents());"
        "assert not {'asyncio', 'xml.dom', 'mailbox'} & set(sys.modules) - before"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize(
    "name",
    [
        "open",
        "str.split",
        "ValueError",
        "os",
        "os.path",
        "os.path.join",
        "random.choice",
        "json.dumps",
        "json.JSONDecodeError",
        "collections.OrderedDict",
        "collections.abc.Mapping",
        "pathlib.Path.read_text",
        "pathlib.PurePath.suffix",
        "io.IOBase.readline",
        "asyncio.run",
        "asyncio.Queue.get",
        "concurrent.futures.Executor.submit",
        "urllib.parse.urlsplit",
        "concurrent.futures.ThreadPoolExecutor",
        "xml.etree.ElementTree.parse",
        "importlib.metadata.version",
        "email.message.Message",
        "unittest.mock.patch",
        "logging.handlers.RotatingFileHandler",
        "multiprocessing.Pool",
        "socket.socket.connect",
        "contextlib.ExitStack.callback",
        "property",
        "str.maketrans",
    ],
)
def test_well_known_objects_have_the_name_people_write(documents, name):
    assert name in documents


@pytest.mark.parametrize(
    "name",
    [
        "posixpath.join",
        "asyncio.runners.run",
        "json.decoder.JSONDecodeError",
        "random.Random.choice",
        "socket.SocketType",
        "collections.UserString.maketrans",
        "unittest.case.TestCase",
        "builtins.open",
        "io.open",
        "this",
        "antigravity",
        "str.__len__",
        "io.StringIO.readline",
        "tkinter",
    ],
)
def test_second_names_private_names_and_repeats_are_left_out(documents, name):
    assert name not in documents


def test_no_document_depends_on_the_machine(documents):
    assert not [document.id for document in documents.values() if " at 0x" in document.full or sys.prefix in document.full]


def test_questions_and_splits():
    queries, qrels = python_docs.queries(), python_docs.qrels()
    assert len(queries) >= 150
    assert len({text.lower() for text in queries.values()}) == len(queries)
    assert len(qrels["test"]) * 3 == len(queries) * 2 and len(qrels["dev"]) * 3 == len(queries)
    assert not set(qrels["test"]) & set(qrels["dev"])
    assert set(qrels["test"]) | set(qrels["dev"]) == set(queries)


def test_every_question_has_an_answer_and_every_judged_id_is_a_document(documents):
    for qrels in python_docs.qrels().values():
        for query, judged in qrels.items():
            assert set(judged.values()) <= {1, 2} and 2 in judged.values(), query
            assert not judged.keys() - documents.keys(), query


def test_no_question_is_a_title(documents):
    titles = {document.title.lower() for document in documents.values()} | {name.lower() for name in documents}
    assert not titles & {text.lower() for text in python_docs.queries().values()}


def test_questions_range_over_the_library():
    answers = Counter(
        name.split(".")[0] for qrels in python_docs.qrels().values() for judged in qrels.values() for name in judged if judged[name] == 2
    )
    assert len(answers) >= 60
