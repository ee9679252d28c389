"""The command ``bitpool-cluster``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from .. import __version__
from .._errors import Error
from .._native import METHODS
from ._code_jobs import CodeFiles, DuplicatesJob, IndexJob, SearchJob, index_files
from ._job import Job
from ._picture_jobs import DescribeJob, EncodeJob, failures_in
from ._training import TrainJob

#: Exit statuses are those of ``bitpool``.
_STATUSES = {
    "invalid argument": 2,
    "not found": 3,
    "corrupt": 4,
    "unsupported": 4,
    "I/O": 5,
    "resources": 6,
    "cancelled": 130,
}
_SOME_FAILED = 7
_FAILURES_SHOWN = 20


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bitpool-cluster",
        description="Jobs of Bitpool on many machines, by Dask. A job that was ended goes on when run again.",
    )
    parser.add_argument("--version", action="version", version=f"bitpool-cluster {__version__}")
    jobs = parser.add_subparsers(dest="job", metavar="JOB", required=True)

    describe = _job(jobs, "describe", "pictures to feature files, as `bitpool extract`")
    describe.add_argument("pictures", metavar="PICTURES", help="a folder that all workers see")
    describe.add_argument("--features", choices=("hesaff", "dense", "cnn"))
    describe.add_argument("--max-side", metavar="PIXELS")
    describe.add_argument("--coder", type=_absolute, metavar="C.bpc")
    describe.add_argument("--network", metavar="NAME")
    describe.add_argument("--views", metavar="N")
    describe.add_argument("--view-kind", choices=("copies", "scenes", "classes"))
    describe.add_argument("--part", type=int, default=256, help="pictures of a task (%(default)s)")

    encode = _job(jobs, "encode", "pictures to codes")
    encode.add_argument("pictures", metavar="PICTURES", help="a folder that all workers see")
    encode.add_argument("--coder", required=True, metavar="C.bpc")
    encode.add_argument("--first-id", type=int, default=0, help="the id of the first picture (%(default)s)")
    encode.add_argument("--no-thumbnails", action="store_true", help="codes and facts alone")
    encode.add_argument("--part", type=int, default=256, help="pictures of a task (%(default)s)")

    index = _job(jobs, "index", "codes to index files")
    index.add_argument("codes", nargs="+", metavar="CODES", help="files of codes, or folders of `encode`")
    index.add_argument("--bits", type=int, help="the length of the codes (all bits of their bytes)")
    index.add_argument("--layout", choices=("auto", "flat", "mih"), default="auto")
    index.add_argument("--part", type=int, default=1_000_000, help="codes of an index file (%(default)s)")

    search = _job(jobs, "search", "the k best of many queries over many index files")
    search.add_argument("shards", nargs="+", metavar="INDEX", help="index files, or folders of `index`")
    search.add_argument("--queries", required=True, type=_absolute, metavar="CODES")
    search.add_argument("-k", type=int, default=10)
    search.add_argument("--part", type=int, default=1000, help="queries of a task (%(default)s)")

    duplicates = _job(jobs, "duplicates", "all pairs of codes within a radius")
    duplicates.add_argument("codes", nargs="+", metavar="CODES", help="files of codes, or folders of `encode`")
    duplicates.add_argument("--radius", type=int, required=True, help="in bits")
    duplicates.add_argument("--bits", type=int, help="the length of the codes (all bits of their bytes)")
    duplicates.add_argument("--part", type=int, default=1_000_000, help="codes of a block (%(default)s)")
    _add_train(jobs)
    return parser


def _add_train(jobs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    train = _job(jobs, "train", "feature files or vectors to a model, as `bitpool train`")
    train.add_argument("sources", nargs="+", metavar="SAMPLES", help="feature files, folders of `describe`, or vectors")
    train.add_argument("--method", choices=sorted(METHODS), default="rba", help="how (%(default)s)")
    train.add_argument("--bits", type=int, default=32, help="the length of the codes (%(default)s)")
    train.add_argument("--preset", choices=("default", "paper"), default="default")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--labels", type=_absolute, metavar="L.npy", help="a class of every picture, for sash")
    train.add_argument("--images-per-picture", type=int, default=1, help="of vectors: every picture and its views")
    train.add_argument("--part", type=int, default=65536, help="images of a shard, rounded up (%(default)s)")
    for option in _training_options().values():
        name = "--" + option["name"].replace("_", "-")
        if isinstance(option["default"], bool):
            train.add_argument(name, action=argparse.BooleanOptionalAction, default=None, help=option["help"])
        else:
            train.add_argument(name, type=type(option["default"]), metavar="N", help=option["help"])


def _training_options() -> dict[str, dict[str, Any]]:
    """The options of the methods that can be trained here, by their names; the first that has one describes it."""
    able = [entry for entry in METHODS.values() if entry["learns_from_shards"] or not entry["needs_labels"]]
    options = (option for entry in reversed(able) for option in entry["options"])
    return {option["name"]: option for option in options if option["name"] != "bits"}


def _job(jobs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str) -> argparse.ArgumentParser:
    """A subcommand, with the options that all have."""
    job = jobs.add_parser(name, help=what, description=what.capitalize())
    job.add_argument("-o", "--out", required=True, type=Path, help="the folder of the job, which all workers see")
    where = job.add_mutually_exclusive_group(required=True)
    where.add_argument("--scheduler", metavar="tcp://HOST:8786", help="of a cluster that is there")
    where.add_argument("--local", type=int, metavar="N", help="this many workers on this machine")
    job.add_argument("--memory", default="auto", metavar="2GiB", help="of each local worker (a share of all)")
    job.add_argument("-f", "--force", action="store_true", help="replace what another job left in the folder")
    job.add_argument("--quiet", action="store_true", help="no progress")
    job.add_argument("--json", action="store_true", help="print the result as JSON")
    return job


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _job_of(given: argparse.Namespace) -> Job:
    if given.job == "describe":
        named = ("features", "max_side", "coder", "network", "views", "view_kind")
        options = [
            word
            for name in named
            if getattr(given, name) is not None
            for word in ("--" + name.replace("_", "-"), getattr(given, name))
        ]
        return DescribeJob.of(given.pictures, options, given.part)
    if given.job == "encode":
        return EncodeJob.of(given.pictures, given.coder, given.part, given.first_id, not given.no_thumbnails)
    if given.job == "index":
        return IndexJob(CodeFiles.open(given.codes, given.bits), given.layout, given.part)
    if given.job == "train":
        return _train_job_of(given)
    if given.job == "search":
        return SearchJob(index_files(given.shards), given.queries, given.k, given.part)
    return DuplicatesJob(CodeFiles.open(given.codes, given.bits), given.radius, given.part)


def _train_job_of(given: argparse.Namespace) -> TrainJob:
    chosen = {name: getattr(given, name) for name in _training_options()}
    return TrainJob(
        tuple(map(_absolute, given.sources)),
        given.method,
        given.bits,
        given.preset,
        tuple((name, float(value)) for name, value in chosen.items() if value is not None),
        given.seed,
        given.labels,
        given.images_per_picture,
        given.part,
    )


def _run(given: argparse.Namespace) -> int:
    from ._dask import connect, run_job  # here, so that --help works without Dask

    job = _job_of(given)
    with connect(given.scheduler, given.local, given.memory) as client:
        result = run_job(job, given.out, client, force=given.force, progress=not given.quiet)
    if given.json:
        print(json.dumps(result))
    else:
        counted = {name: value for name, value in result.items() if isinstance(value, int) and name != "n_bits"}
        counts = ", ".join(f"{value} {name}" for name, value in counted.items())
        print(f"{given.out}: {counts}")
    return _show_failures(given.out / "facts.jsonl", result["failed"]) if result.get("failed") else 0


def _show_failures(facts: Path, failed: int) -> int:
    for (path, reason), _ in zip(failures_in(facts), range(_FAILURES_SHOWN)):
        print(f"bitpool-cluster: {path}: {reason}", file=sys.stderr)
    if failed > _FAILURES_SHOWN:
        print(f"bitpool-cluster: and {failed - _FAILURES_SHOWN} more, in {facts}", file=sys.stderr)
    return _SOME_FAILED


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        return _run(given)
    except Error as error:
        print(f"bitpool-cluster: {error}", file=sys.stderr)
        return _STATUSES.get(error.code, 1)
    except ImportError as error:
        print(f"bitpool-cluster: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"bitpool-cluster: {error}", file=sys.stderr)
        return 5
    except KeyboardInterrupt:
        print("bitpool-cluster: interrupted; run the same command again to complete it", file=sys.stderr)
        return 130
