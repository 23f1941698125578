"""Folders are whole or absent, skipped when nothing changed, and continued after a kill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrolex.artifacts import MANIFEST, Stage, content_hash, read_manifest
from retrolex.errors import UserError


def writer(text: str, name: str = "data.txt"):
    def work(folder: Path) -> dict[str, int]:
        (folder / name).write_text(text, encoding="utf-8")
        return {"letters": len(text)}

    return work


def test_a_stage_runs_once_and_is_skipped_afterwards(tmp_path):
    stage = Stage("one", tmp_path / "one", config={"a": 1})
    assert stage.run(writer("hello"))
    assert not stage.run(writer("never written"))
    manifest = read_manifest(tmp_path / "one")
    assert manifest["counts"] == {"letters": 5}
    assert manifest["outputs"][0]["name"] == "data.txt"
    assert manifest["outputs"][0]["bytes"] == 5
    assert not (tmp_path / "one.partial").exists()


def test_a_changed_configuration_runs_again(tmp_path):
    assert Stage("one", tmp_path / "one", config={"a": 1}).run(writer("x"))
    assert Stage("one", tmp_path / "one", config={"a": 2}).run(writer("y"))
    assert (tmp_path / "one" / "data.txt").read_text(encoding="utf-8") == "y"


def test_an_input_rebuilt_to_the_same_bytes_sets_nothing_off(tmp_path):
    first = Stage("one", tmp_path / "one", config={"a": 1})
    first.run(writer("same"))
    second = Stage("two", tmp_path / "two", {"one": tmp_path / "one"})
    assert second.run(writer("derived"))
    Stage("one", tmp_path / "one", config={"a": 2}).run(writer("same"))
    assert not second.run(writer("derived again"))
    Stage("one", tmp_path / "one", config={"a": 3}).run(writer("other"))
    assert second.run(writer("derived again"))


def test_logs_are_kept_but_are_no_part_of_the_hash(tmp_path):
    def work(clock: str):
        def write(folder: Path) -> None:
            (folder / "logs").mkdir()
            (folder / "logs" / "times.json").write_text(clock, encoding="utf-8")
            (folder / "data.txt").write_text("d", encoding="utf-8")

        return write

    Stage("one", tmp_path / "a").run(work("12:00"))
    Stage("one", tmp_path / "b").run(work("13:00"))
    assert content_hash(tmp_path / "a") == content_hash(tmp_path / "b")
    assert (tmp_path / "a" / "logs" / "times.json").exists()


def test_a_killed_stage_finds_its_partial_folder_again_unless_the_work_changed(tmp_path):
    def killed(folder: Path) -> None:
        (folder / "shard-0").write_text("0", encoding="utf-8")
        raise KeyboardInterrupt

    seen = []

    def resumed(folder: Path) -> None:
        seen.append((folder / "shard-0").exists())

    with pytest.raises(KeyboardInterrupt):
        Stage("one", tmp_path / "one", config={"a": 1}).run(killed)
    assert (tmp_path / "one.partial").exists()
    Stage("one", tmp_path / "one", config={"a": 1}).run(resumed)
    with pytest.raises(KeyboardInterrupt):
        Stage("two", tmp_path / "two", config={"a": 1}).run(killed)
    Stage("two", tmp_path / "two", config={"a": 2}).run(resumed)
    assert seen == [True, False]


def test_a_user_error_leaves_nothing_behind(tmp_path):
    def refuse(folder: Path) -> None:
        (folder / "half.txt").write_text("half", encoding="utf-8")
        raise UserError("bad input")

    with pytest.raises(UserError):
        Stage("one", tmp_path / "one").run(refuse)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_manifest_and_a_missing_input_say_how_to_mend_it(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / MANIFEST).write_text("{half", encoding="utf-8")
    with pytest.raises(UserError, match="not a manifest"):
        read_manifest(tmp_path / "one")
    with pytest.raises(UserError, match="run the stage that writes it first"):
        Stage("two", tmp_path / "two", {"absent": tmp_path / "absent"}).run(writer("x"))


def test_the_manifest_states_inputs_by_relative_path_and_hash(tmp_path):
    Stage("one", tmp_path / "one").run(writer("x"))
    Stage("two", tmp_path / "sub" / "two", {"one": tmp_path / "one"}).run(writer("y"))
    stated = json.loads((tmp_path / "sub" / "two" / MANIFEST).read_text(encoding="utf-8"))
    assert stated["inputs"]["one"] == {"path": "../one", "hash": content_hash(tmp_path / "one")}
