"""Jobs over more pictures and codes than one machine can take, by Dask.

    job = EncodeJob.of("/data/pictures", "copies-64.bpc")
    with connect("tcp://scheduler:8786") as client:
        run_job(job, Path("/data/codes"), client)

A job that ended early, for whatever reason, goes on when it is run again. docs/cluster.md has more.
"""

from typing import Any

from ._code_jobs import CodeFiles, DuplicatesJob, IndexJob, SearchJob, index_files
from ._job import Job, Outcome, WorkDied
from ._parts import Part, Parts, PartWriter, Task
from ._picture_jobs import DescribeJob, EncodeJob, Thumbnails, find_pictures, update_library
from ._training import TrainJob

__all__ = [
    "CodeFiles",
    "DescribeJob",
    "DuplicatesJob",
    "EncodeJob",
    "IndexJob",
    "Job",
    "Outcome",
    "Part",
    "PartWriter",
    "Parts",
    "SearchJob",
    "Task",
    "Thumbnails",
    "TrainJob",
    "WorkDied",
    "connect",
    "find_pictures",
    "index_files",
    "run_job",
    "update_library",
]


def __getattr__(name: str) -> Any:
    """``connect`` and ``run_job`` need Dask, the rest does not."""
    if name in ("connect", "run_job"):
        from . import _dask

        return getattr(_dask, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
