"""A killed tokenising loses one block at most, and ends in the same bytes."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tokens.conftest import TEXTS, train

from retrolex.tokens import Tokens, tokenize, tokenizer_hash, writing

ROWS = [f"{TEXTS[i % len(TEXTS)]} number {i}" if i % 7 else "" for i in range(60)]
DRIVER = """
import os, signal, sys
from pathlib import Path
from transformers import PreTrainedTokenizerFast
from retrolex.tokens import tokenize, writing

writing.BATCH = 4
folder, place, tokenizer, rows = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]).read_text(encoding="utf-8").split("\\x00")
add = writing.FlatFile.append

def append(self, values):
    add(self, values)
    self.file.flush()
    append.calls += 1
    if append.calls == place:
        os.kill(os.getpid(), signal.SIGKILL)

append.calls = 0
writing.FlatFile.append = append
tokenize(rows, PreTrainedTokenizerFast(tokenizer_file=tokenizer), folder)
"""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 4)


@pytest.fixture
def cutting(monkeypatch):
    """Sizes of the blocks that are tokenised, as they come."""
    sizes, made = [], writing.cutter

    def counting(tokenizer):
        cut = made(tokenizer)
        return lambda texts: (sizes.append(len(texts)), cut(texts))[1]

    monkeypatch.setattr(writing, "cutter", counting)
    return sizes


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def interrupted(rows, tokenizer, folder, after):
    """Tokenise, and stop in the middle of a block."""

    def failing():
        yield from rows[:after]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenize(failing(), tokenizer, folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("place", [21, 45])  # within the seventh and the last block
def test_kill_9(place, tmp_path, cutting):
    tokenizer = train("wordpiece")
    tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "rows").write_text("\0".join(ROWS), encoding="utf-8")
    command = [sys.executable, "-c", DRIVER, tmp_path / "killed", str(place), tmp_path / "tokenizer.json", tmp_path / "rows"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with pytest.raises(Exception, match="not a token folder"):
        Tokens.open(tmp_path / "killed")
    whole = (place - 2) // 3  # appends: the first offset, and then three a block
    tokenize(ROWS, tokenizer, tmp_path / "killed")
    assert len(cutting) == 15 - whole
    tokenize(ROWS, tokenizer, tmp_path / "undisturbed")
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_every_place_to_stop_at(tokenizer, tmp_path, cutting):
    tokenize(ROWS, tokenizer, tmp_path / "undisturbed")
    for after in range(0, 60, 9):
        interrupted(ROWS, tokenizer, tmp_path / "stopped", after)
        cutting.clear()
        tokenize(ROWS, tokenizer, tmp_path / "stopped")
        assert len(cutting) == 15 - after // 4
        assert contents(tmp_path / "stopped") == contents(tmp_path / "undisturbed")
        shutil.rmtree(tmp_path / "stopped")


def test_texts_that_changed_are_done_again_from_there(tokenizer, tmp_path, cutting):
    interrupted(ROWS, tokenizer, tmp_path / "stopped", 40)
    changed = [*ROWS[:22], "something else", *ROWS[23:50]]
    cutting.clear()
    tokenize(changed, tokenizer, tmp_path / "stopped")
    assert sum(cutting) == 30
    tokenize(changed, tokenizer, tmp_path / "undisturbed")
    assert contents(tmp_path / "stopped") == contents(tmp_path / "undisturbed")


def test_another_tokenizer_starts_afresh(tmp_path, cutting):
    interrupted(ROWS, train("bpe"), tmp_path / "stopped", 40)
    cutting.clear()
    tokenize(ROWS, train("wordpiece"), tmp_path / "stopped")
    assert sum(cutting) == 60


@pytest.mark.parametrize("damage", ["half a line", "lost data"])
def test_what_is_not_whole_is_not_taken_over(damage, tokenizer, tmp_path, cutting):
    tokenize(ROWS, tokenizer, tmp_path / "undisturbed")
    interrupted(ROWS, tokenizer, tmp_path / "stopped", 20)
    path = tmp_path / "stopped" / ("journal.jsonl" if damage == "half a line" else "ids.npy")
    path.write_bytes(path.read_bytes()[:-3])
    cutting.clear()
    tokenize(ROWS, tokenizer, tmp_path / "stopped")
    assert 11 <= len(cutting) < 15
    assert contents(tmp_path / "stopped") == contents(tmp_path / "undisturbed")


def test_long_documents_close_a_block_early(tokenizer, tmp_path, cutting, monkeypatch):
    monkeypatch.setattr(writing, "BATCH_CHARACTERS", 50)
    tokenize(["x" * 60, "y", "z" * 49, "w"], tokenizer, tmp_path)
    assert cutting == [1, 2, 1]


def test_the_description_names_tokenizer_and_texts(tokenizer, tmp_path):
    def described(rows):
        tokenize(rows, tokenizer, tmp_path)
        return json.loads((tmp_path / "tokens.json").read_text(encoding="utf-8"))

    one, moved = described(["ab", "c"]), described(["a", "bc"])
    assert one["tokenizer"] == tokenizer_hash(tokenizer) == moved["tokenizer"]
    assert one["texts"] != moved["texts"]


def test_truncation_is_no_part_of_a_tokenizers_hash(tokenizer):
    before = tokenizer_hash(tokenizer)
    tokenizer("some text", truncation=True, max_length=3)
    assert tokenizer_hash(tokenizer) == before
    tokenizer.backend_tokenizer.no_truncation()
