"""Vectors to index or to search with: a folder that retrolex encoded, or a file that another tool wrote.

shards       a folder of shard-00000.npy and its like; ids in ids.jsonl, or from a file, one a line
json         JSON lines of an id and a vector: {"id": "d1", "vector": {"engine": 1.5}}, as Anserini (JsonVectorCollection),
             Tevatron and Seismic write them; a list of numbers in place of the object is a dense vector. A file or a folder, also .gz
npy          an array [n, H], as sentence-transformers' encode gives it; ids from a file
npz          a sparse matrix [n, terms] that scipy.sparse.save_npz wrote; ids from a file

Pickles, as Tevatron's dense encoder writes them, are not read: loading one runs whatever it contains.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from retrolex.encoding.ids import IDS, read_shard_ids
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError

FORMS = ("shards", "json", "npy", "npz")
ID_FIELDS = ("id", "_id", "docid", "doc_id", "query_id", "qid")
ROWS = 16_384  # a shard
JSON, PICKLES = (".jsonl", ".json", ".gz"), (".pkl", ".pickle")
UNPICKLE = (
    "if you trust the file, convert it (Tevatron's hold vectors and ids): python -c \"import numpy, pickle; "
    "rows, ids = pickle.load(open('{name}', 'rb')); numpy.save('vectors.npy', rows); numpy.savetxt('ids.txt', ids, '%s', encoding='utf-8')\""
    " and name vectors.npy"
)


@dataclass
class Vectors:
    """Vectors of documents or of queries, read shard by shard, as often as asked.

    Attributes:
        path: file or folder.
        form: see above.
        ids: one a row.
        dense: whether rows are dense.
        terms: of vectors keyed by term, the term of each column.
        scale: what every weight is multiplied by.
        unknown: weights left out because their term is not among `terms` (queries).
    """

    path: Path
    form: str
    ids: list[str]
    dense: bool
    terms: list[str] | None = None
    scale: float = 1.0
    unknown: int = field(default=0, init=False)

    def shards(self) -> Iterator[np.ndarray | sparse.csr_array]:
        """float32 [n, H], or float32 CSR [n, terms]."""
        for shard in self._shards():
            yield shard if self.scale == 1 else shard * np.float32(self.scale)

    def _shards(self) -> Iterator[Any]:
        if self.form == "shards":
            yield from read_shards(self.path)
        elif self.form == "npy":
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            yield from (np.asarray(array[start : start + ROWS], np.float32) for start in range(0, len(array), ROWS))
        elif self.form == "npz":
            yield sparse.csr_array(sparse.load_npz(self.path)).astype(np.float32)
        else:
            rows: list[Any] = []
            for _, _, vector in _json_rows(self.path):
                rows.append(vector)
                if len(rows) == ROWS:
                    yield self._stack(rows)
                    rows = []
            if rows:
                yield self._stack(rows)

    def _stack(self, rows: list[Any]) -> np.ndarray | sparse.csr_array:
        if self.dense:
            return np.array(rows, np.float32)
        place = {term: column for column, term in enumerate(self.terms or ())}
        known = [[(place[term], weight) for term, weight in row.items() if term in place] for row in rows]
        self.unknown += sum(map(len, rows)) - sum(map(len, known))
        pointers = np.concatenate([[0], np.cumsum([len(row) for row in known])])
        columns = np.array([column for row in known for column, _ in row], np.int32)
        weights = np.array([weight for row in known for _, weight in row], np.float32)
        return sparse.csr_array((weights, columns, pointers), shape=(len(rows), len(place)))


def read_vectors(
    path: Path, ids: Path | None = None, form: str | None = None, scale: float = 1.0, terms: list[str] | None = None, grow: bool = True
) -> Vectors:
    """Look at vectors: what they are, their ids, and for vectors keyed by term all terms, in the order of their first appearance.

    Args:
        path: file or folder.
        ids: a file of ids, one a line, where the vectors have none of their own; ``ids.jsonl`` or ``ids.txt`` beside them when not given.
        form: one of `FORMS`; told from the path when not given.
        scale: what every weight is multiplied by: 0.01 for integers that are 100 times the weight.
        terms: columns that are known already.
        grow: whether terms that are not known become new columns (documents) or are left out (queries).

    Raises:
        UserError: nothing readable there, a pickle, a line that has no id or vector, another number of ids than of vectors, or ids for JSON lines.
    """
    path = Path(path)
    for file in _files(path):
        _refuse_pickle(file)
    form = form or _guess(path)
    if form not in FORMS:
        raise UserError(f"no form of vectors {form!r}", mend=f"choose one of: {', '.join(FORMS)}")
    if form == "json" and ids:
        raise UserError("JSON lines have ids of their own: a file of ids does not go with them", where=path, mend="leave --ids out")
    if form == "json":
        return _look(path, scale, list(terms or ()), grow)
    try:
        if form == "npz":
            rows, dense = sparse.load_npz(path).shape[0], False
        elif form == "npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
            rows, dense = len(array), True
            if array.ndim != 2:
                raise ValueError(f"an array of {array.ndim} dimensions where two belong")
        else:
            shards = list(read_shards(path))
            rows, dense = sum(shard.shape[0] for shard in shards), isinstance(shards[0], np.ndarray)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"not vectors of the form {form!r}: {error}", where=path, mend=f"name the form: {', '.join(FORMS)}") from None
    beside = path if path.is_dir() else path.parent
    names = ids or (beside / IDS if (beside / IDS).is_file() else beside / "ids.txt")
    if not names.is_file():
        raise UserError("these vectors come without ids", where=path, mend="name a file of ids, one a line: --ids FILE")
    named = read_shard_ids(names) if names.name == IDS else names.read_text(encoding="utf-8").splitlines()
    if len(named) != rows:
        raise UserError(f"{len(named):,} ids for {rows:,} vectors", where=names, mend="give one id a line, in the order of the vectors")
    return Vectors(path, form, named, dense, None, scale)


def _guess(path: Path) -> str:
    if path.is_dir():
        return "shards" if any(path.glob("shard-*.npy")) else "json"
    return path.suffix[1:] if path.suffix in (".npy", ".npz") else "json"


def _look(path: Path, scale: float, terms: list[str], grow: bool) -> Vectors:
    ids, seen, dense, width = [], set(terms), None, 0
    for where, name, vector in _json_rows(path):
        if dense is None:
            dense, width = isinstance(vector, list), len(vector)
        if isinstance(vector, list) != dense or (dense and len(vector) != width):
            raise UserError("a vector unlike the first one", where=where, mend="give lists of one length, or objects of term and weight")
        ids.append(name)
        if not dense and grow:
            new = [term for term in vector if term not in seen]
            terms.extend(new)
            seen.update(new)
    if dense is None:
        raise UserError("no vectors here", where=path, mend="name a file or folder of JSON lines")
    return Vectors(path, "json", ids, dense, None if dense else terms, scale)


def _files(path: Path) -> list[Path]:
    """The file itself; of a folder its JSON lines, or else its pickles."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix in JSON) or sorted(file for file in path.iterdir() if file.suffix in PICKLES)


def _refuse_pickle(file: Path) -> None:
    """By name, or by the first two bytes: the mark and a protocol from 2 to 5."""
    if not file.is_file():
        return
    with open(file, "rb") as opened:
        mark = opened.read(2)
    if file.suffix in PICKLES or (mark[:1] == b"\x80" and mark[1:] in (b"\2", b"\3", b"\4", b"\5")):
        raise UserError("pickles are not read: loading one runs whatever it contains", where=file, mend=UNPICKLE.format(name=file))


def _text(lines: Iterator[str], file: Path) -> Iterator[str]:
    """The lines of what is a text.

    Raises:
        UserError: it is none, or a .gz that is damaged or cut off.
    """
    try:
        yield from lines
    except (UnicodeDecodeError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"not JSON lines: {error}", where=file, mend=f"name a text of JSON lines, or the form: {', '.join(FORMS)}") from None


def _json_rows(path: Path) -> Iterator[tuple[str, str, Any]]:
    """``file:line``, id and vector of every line."""
    for file in _files(path):
        if not file.is_file():
            raise UserError("no vectors here", where=file, mend="name a folder of shards, or a .jsonl, .npy or .npz file")
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else open(file, encoding="utf-8") as lines:
            for number, line in enumerate(_text(lines, file), 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                    name = next(str(row[key]) for key in ID_FIELDS if key in row)
                    vector = row["vector"]
                    weights = vector.values() if isinstance(vector, dict) else vector
                    if not isinstance(vector, (dict, list)) or not all(isinstance(weight, (int, float)) for weight in weights):
                        raise TypeError
                except (ValueError, StopIteration, KeyError, TypeError, AttributeError):
                    expected = 'expected {"id": ..., "vector": {"term": weight, ...}} or a list of numbers for the vector'
                    raise UserError(expected, where=f"{file}:{number}", mend="correct the line") from None
                yield f"{file}:{number}", name, vector
