"""The command line as a user meets it: quick help, examples, one message and exit code 2 for mistakes."""

from __future__ import annotations

import subprocess
import sys

import pytest

VERBS = ["run", "check", "pretrain", "mine", "teach", "finetune", "encode", "index", "search", "evaluate", "compare", "report", "reproduce", "export"]


def retrolex(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "retrolex", *arguments], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell what a child process used")
def test_help_takes_less_than_half_a_second():
    import resource

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime  # of the processor: what else the machine does at the time is left out

    taken = []
    for _ in range(3):
        started = used()
        done = retrolex("--help")
        taken.append(used() - started)
        assert done.returncode == 0
        assert all(verb in done.stdout for verb in VERBS)
    assert min(taken) < 0.5


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_an_example(verb):
    done = retrolex(verb, "--help")
    assert done.returncode == 0
    assert f"retrolex {verb} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "nothing to run"),
        (["run", "absent.yaml"], "absent.yaml: no such recipe"),
        (["run", "--collection", "absent-folder"], "absent-folder"),
        (["run", "--collection", "python-docs", "--set", "seeed=1"], "seeed"),
        (["pretrain", "absent-folder"], "absent-folder"),
        (["pretrain", "python-docs", "--train-tokenizer", "8000"], "use --init scratch"),
        (["search", "absent", "query"], "no finished run here"),
        (["evaluate", "absent.trec", "absent.tsv"], "absent"),
    ],
)
def test_mistakes_get_one_message_and_exit_code_2(arguments, words, tmp_path):
    done = subprocess.run([sys.executable, "-m", "retrolex", *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "mend" in done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"_id": "1", "text": "a"}\nnot json\n', "corpus.jsonl:2"),
        ('{"text": "no id here"}\n{"_id": "2", "text": "b"}\n', "corpus.jsonl:1"),
        ('{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n', "corpus.jsonl:2"),
        ("", "corpus.jsonl"),
    ],
)
def test_bad_input_names_file_and_line_and_leaves_nothing_half_written(content, words, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(content, encoding="utf-8")
    done = retrolex("run", "--collection", str(folder), "--output", str(tmp_path / "run"))
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "collection").exists()
    assert not (tmp_path / "run" / "collection.partial").exists()
