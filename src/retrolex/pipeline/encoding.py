"""What `retrolex encode` does: any source becomes a folder of shards of vectors, by one process, by those of ``torchrun``, or by a Ray cluster."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage
from retrolex.backbones import Spec, read_spec, resolve_start
from retrolex.backbones.spec import positions
from retrolex.cluster import ENGINES, connect, on_ray
from retrolex.encoding import Encoder
from retrolex.encoding.encoder import REPRESENTATIONS, Kind
from retrolex.encoding.ids import write_shard_ids
from retrolex.encoding.shards import DTYPES, Shards
from retrolex.errors import UserError
from retrolex.pipeline.encoding_sources import identity_of, import_source, list_rejects, open_source
from retrolex.pipeline.processes import leads, processes, rank, rendezvous
from retrolex.pipeline.stages import execute, start_identity
from retrolex.progress import track

KINDS = ("document", "query")


@dataclass(frozen=True)
class Job:
    """The verb's arguments.

    Attributes:
        source: a run's folder, an imported collection, anything that can be imported; of queries, also a file.
        model: a model folder, or any start.
        output: the folder to write.
        representation: ``dense`` or ``lexicon``; what the model says when None.
        kind: whether documents are encoded, or queries.
        length: longest input in tokens, special tokens included; the model's when None.
        top_k: weights kept of each lexicon document; all when None.
        dtype: of the stored numbers.
        size: texts a shard.
    """

    source: str
    model: str
    output: Path
    representation: str | None = None
    kind: Kind = "document"
    length: int | None = None
    top_k: int | None = None
    dtype: str = "float32"
    size: int = 2048

    def resolved(self) -> Job:
        """The same job, seen from any working folder."""
        source, model = (str(Path(name).resolve()) if Path(name).exists() else name for name in (self.source, self.model))
        return replace(self, source=source, model=model, output=self.output.resolve())


def run_job(job: Job, engine: str = "here") -> None:
    """Write `job.output`: shards, ``ids.jsonl``, ``rejects.jsonl`` where the source had any, and a manifest.

    Beside it, the imported source lies in ``OUTPUT.source`` while the job is not done. A killed job goes on after its last whole shard, and
    ends in the same bytes, on whatever engine.

    Raises:
        UserError: something in the arguments or the source that its owner has to mend; nothing is left of the output then.
    """
    place = job.output.with_name(f"{job.output.name}.source").resolve()
    with rendezvous() as wait:
        if leads():
            stage = prepare(job, place, engine)
        wait()
        if place.exists():
            work = partial(encode_together, job.resolved(), place, engine, wait)
            if leads():
                try:
                    execute(stage, work)
                except UserError:
                    shutil.rmtree(place)
                    raise
            else:
                work(job.output.with_name(f"{job.output.name}.partial"))
        wait()
        if leads() and place.exists():
            shutil.rmtree(place)


def prepare(job: Job, place: Path, engine: str) -> Stage:
    """Check everything that can be, and import the source into `place`; that folder exists afterwards if there is anything to do.

    Raises:
        UserError: see `run_job`.
    """
    choices = {"engine": (engine, ENGINES), "kind": (job.kind, KINDS), "dtype": (job.dtype, DTYPES)}
    for name, (given, known) in choices.items():
        if given not in known:
            raise UserError(f"no {name} {given!r}", where=f"--{name}", mend=f"choose one of: {', '.join(known)}")
    spec = spec_of(job)
    config = {"source": identity_of(job.source, job.kind), "model": start_identity(job.model), "spec": asdict(spec)}
    config |= {"kind": job.kind, "top_k": job.top_k, "dtype": job.dtype, "shard size": job.size}
    stage = Stage("encode", job.output, config=config)
    if stage.up_to_date():
        execute(stage, lambda _: None)  # says so
        shutil.rmtree(place, ignore_errors=True)
        return stage
    if engine == "ray":
        if processes() > 1:
            raise UserError("both torchrun and Ray", where="--engine", mend="start the command without torchrun: Ray has processes of its own")
        connect()
    place.mkdir(parents=True, exist_ok=True)
    try:
        import_source(job.source, job.kind, place)
    except UserError:
        shutil.rmtree(place)
        raise
    return stage


def spec_of(job: Job) -> Spec:
    """How the job makes vectors: as the model says, with what the job says instead.

    Raises:
        UserError: the model makes no such vectors, or none of such length.
    """
    start = Path(resolve_start(job.model))
    spec = read_spec(start)
    representation = job.representation or spec.representation
    if representation not in REPRESENTATIONS:
        mend = f"choose one of: {', '.join(REPRESENTATIONS)}"
        raise UserError(f"vectors of the representation {representation!r} are not written by themselves", where="--representation", mend=mend)
    if job.top_k and (representation, job.kind) != ("lexicon", "document"):
        raise UserError(f"a top K of {representation} {job.kind} vectors", where="--top-k", mend="leave it out: it is for lexicon documents")
    if job.length and job.length > positions(start):
        raise UserError(f"the model has positions for {positions(start):,} tokens", where="--length", mend="name a smaller length")
    lengths = {f"{job.kind}_length": job.length} if job.length else {}
    return replace(spec, representation=representation, **lengths)


def encode_together(job: Job, place: Path, engine: str, wait: Callable[[], None], out: Path) -> dict[str, Any]:
    """This process's shards, in turn with the others', or all of them on a cluster; then the ids, once all are made."""
    source = open_source(job.source, job.kind, place)
    shards = -(-len(source) // job.size)
    wait()  # the folder is ready
    make = partial(make_shard, job, place, out.resolve())
    if engine == "ray":
        made, count = on_ray(make, range(shards)), shards
    else:
        mine = range(rank(), shards, processes())
        made, count = map(make, mine), len(mine)
    for _ in track(made, f"Encoding {source.name}", count):
        pass
    open_shards.cache_clear()
    wait()  # everybody's are made
    if not leads():
        return {}
    write_shard_ids(out, source.ids())
    rejects = list_rejects(job.source, job.kind, place, out)
    return Shards(len(source), source.texts, lambda _: [], out, job.size).counts() | {"rejects": rejects}


def make_shard(job: Job, place: Path, out: Path, number: int) -> None:
    """Write one shard, unless it is there."""
    open_shards(job, place, out).make(number)


@lru_cache(maxsize=1)
def open_shards(job: Job, place: Path, out: Path) -> Shards:
    """The job's shards, with the model and the source opened; once a process.

    Raises:
        UserError: lexicon vectors of a model without a language-model head.
    """
    spec = spec_of(job)
    encoder = Encoder(job.model, spec.representation, spec=spec, top_k=job.top_k)
    if spec.representation == "lexicon" and encoder.backbone.head_is_new:
        mend = "pre-train it first (retrolex pretrain --objective lexmae), or encode with --representation dense"
        raise UserError("a model without a language-model head has no lexicon vectors", where=job.model, mend=mend)
    source = open_source(job.source, job.kind, place, spec.separator)
    return Shards(len(source), source.texts, partial(encoder.encode, kind=job.kind), out, job.size, job.dtype)
