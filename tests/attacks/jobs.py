"""The jobs that are attacked: what is there before, the command, and how to tell what it left."""

import dataclasses
import pathlib
import random
import shutil
import struct
from collections.abc import Callable

import common
import library_model

State = dict[str, bytes]  # the files under a folder
Prepare = Callable[[common.Program, pathlib.Path], None]


@dataclasses.dataclass(frozen=True)
class Job:
    """One command in a folder that is made anew for every run."""

    name: str
    prepare: Prepare
    arguments: list[str]
    # The command that ends the work after a failure; it may also find it done.
    again: list[str]
    outputs: tuple[str, ...] = ()  # the files that it makes, all of them deterministic
    kept: tuple[str, ...] = ()  # what may be left by a failure for `again` to go on from
    library: bool = False
    # A command that writes to ESSENCE what counts of the output, where its bytes tell how long the job took.
    essence: tuple[str, ...] = ()

    def command(self, folder: pathlib.Path, arguments: list[str]) -> list[str]:
        return [argument.replace("FOLDER", str(folder)) for argument in arguments] + ["--threads", "1", "--quiet"]


def prepare_vectors(program: common.Program, folder: pathlib.Path) -> None:
    common.write_vectors(folder / "v.npy", 200, 16, seed=1)


def prepare_old_output(program: common.Program, folder: pathlib.Path) -> None:
    prepare_vectors(program, folder)
    common.write_vectors(folder / "other.npy", 50, 16, seed=2)
    program.must("convert", folder / "other.npy", folder / "v.fvecs")


def prepare_features(program: common.Program, folder: pathlib.Path) -> None:
    numbers = random.Random(3)
    images, descriptors, dimension = 60, 8, 12
    values = [numbers.gauss(0, 1) for _ in range(images * descriptors * dimension)]
    common.write_npy(folder / "maps.npy", "<f4", (images, descriptors, dimension), struct.pack(f"<{len(values)}f", *values))
    program.must("convert", folder / "maps.npy", folder / "f.bpf")


def prepare_model(program: common.Program, folder: pathlib.Path) -> None:
    prepare_vectors(program, folder)
    program.must("train", "--method", "itq", "--bits", 16, "--vectors", folder / "v.npy", "-o", folder / "m.bpm", "--quiet")


def prepare_codes(program: common.Program, folder: pathlib.Path) -> None:
    prepare_model(program, folder)
    program.must("encode", "--model", folder / "m.bpm", "--vectors", folder / "v.npy", "-o", folder / "c.npy")


def prepare_pictures(program: common.Program, folder: pathlib.Path) -> None:
    (folder / "pictures").mkdir()
    for number in range(4):
        (folder / "pictures" / f"{number}.png").write_bytes(common.picture(number))


def prepare_library(program: common.Program, folder: pathlib.Path) -> None:
    prepare_pictures(program, folder)
    program.must("index", folder / "pictures", "--quiet")


def prepare_changed_library(program: common.Program, folder: pathlib.Path) -> None:
    prepare_library(program, folder)
    (folder / "pictures" / "0.png").unlink()
    (folder / "pictures" / "1.png").write_bytes(common.picture(11))
    (folder / "pictures" / "4.png").write_bytes(common.picture(4))


def prepare_library_and_coder(program: common.Program, folder: pathlib.Path) -> None:
    prepare_library(program, folder)
    program.must("index", folder / "pictures", "--library", folder / "other", "--bits", 16, "--quiet")
    next((folder / "other").glob("coder-*.bpc")).rename(folder / "other.bpc")
    shutil.rmtree(folder / "other")


LIBRARY = "FOLDER/pictures/.bitpool"
INDEX = ["index", "FOLDER/pictures"]
CONVERT = ["convert", "FOLDER/v.npy", "FOLDER/v.fvecs"]
TRAIN = ["train", "--method", "sah", "--bits", "8", "--features", "FOLDER/f.bpf", "-o", "FOLDER/m.bpm", "--memory", "0",
         "--iterations", "4"]
APART = ["dedupe", "--library", LIBRARY, "--not-duplicates", "1.png", "2.png"]

JOBS = [
    Job("convert", prepare_vectors, CONVERT, CONVERT, outputs=("v.fvecs",)),
    Job("convert-replacing", prepare_old_output, [*CONVERT, "--force"], [*CONVERT, "--force"], outputs=("v.fvecs",)),
    Job("train", prepare_features, TRAIN, [*TRAIN, "--resume"], outputs=("m.bpm",), kept=("m.bpm.records", "m.bpm.checkpoint"),
        essence=("encode", "--model", "FOLDER/m.bpm", "--features", "FOLDER/f.bpf", "--real", "-o", "ESSENCE")),
    Job("encode", prepare_model, arguments := ["encode", "--model", "FOLDER/m.bpm", "--vectors", "FOLDER/v.npy", "-o", "FOLDER/c.npy"],
        arguments, outputs=("c.npy",)),
    Job("index-codes", prepare_codes, arguments := ["index-codes", "FOLDER/c.npy", "-o", "FOLDER/c.bpi"], arguments, outputs=("c.bpi",)),
    Job("extract", prepare_pictures, arguments := ["extract", "FOLDER/pictures", "-o", "FOLDER/f.bpf", "--features", "dense"],
        [*arguments, "--resume", "--force"], outputs=("f.bpf",), kept=("f.bpf.part",)),
    Job("index", prepare_pictures, INDEX, INDEX, library=True),
    Job("update", prepare_changed_library, INDEX, INDEX, library=True),
    Job("other-coder", prepare_library_and_coder, [*INDEX, "--coder", "FOLDER/other.bpc"], [*INDEX, "--coder", "FOLDER/other.bpc"],
        library=True),
    Job("decide", prepare_library, APART, APART, library=True),
]


class Bench:
    """A job with what it starts from and what it must lead to."""

    def __init__(self, program: common.Program, job: Job, folder: pathlib.Path) -> None:
        self.program, self.job = program, job
        self.start, self.done, self.work = folder / "start", folder / "done", folder / "work"
        self.start.mkdir(parents=True)
        job.prepare(program, self.start)
        self.before = self.state(self.start)
        shutil.copytree(self.start, self.work)  # in the folder of all runs, whose path may be part of the result
        program.must(*job.command(self.work, job.arguments))
        shutil.copytree(self.work, self.done)
        self.after = self.state(self.done)
        if job.library:
            self.old_library = library_model.read(self.start / "pictures" / ".bitpool")
            self.new_library = library_model.read(self.done / "pictures" / ".bitpool")

    def state(self, folder: pathlib.Path) -> State:
        """The files under a folder, the output of a job by its essence where it has one."""
        state = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
                 if path.is_file() and not library_model.is_beside(path)}
        if self.job.essence and self.job.outputs[0] in state:
            essence = folder.parent / "essence.npy"
            command = [word.replace("ESSENCE", str(essence)) for word in self.job.command(folder, list(self.job.essence))]
            outcome = self.program.run(*command, "--force")
            state[self.job.outputs[0]] = essence.read_bytes() if outcome.status == common.FINE else b"unusable"
        return state

    def fresh(self) -> pathlib.Path:
        """The folder as it is before the job; times of files included, or pictures would look changed."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.start, self.work)
        return self.work

    def problems_after(self, outcome: common.Outcome) -> list[str]:
        """What is wrong after a run that was disturbed."""
        ended = outcome.problem() if outcome.status >= 0 else None
        problems = [ended] if ended else []
        return problems + (self._library_problems(outcome) if self.job.library else self._file_problems(outcome))

    def _file_problems(self, outcome: common.Outcome) -> list[str]:
        state = self.state(self.work)
        problems = []
        for name in self.job.outputs:
            if outcome.status == common.SOME_FAILED:
                self.program.must("verify", self.work / name)  # complete, but for what it says is missing
            elif state.get(name) not in (self.before.get(name), self.after[name]):
                problems.append(f"{name} is neither the old nor the new one")
            if outcome.status == common.FINE and state.get(name) != self.after[name]:
                problems.append(f"exit status 0, and {name} is not the new one")
        stray = set(state) - set(self.before) - set(self.job.outputs)
        stray = {name for name in stray if not name.startswith(self.job.kept or ("\0",))}
        if stray and outcome.status >= 0:
            problems.append(f"litter: {sorted(stray)}")
        lost = [name for name, content in self.before.items() if name not in self.job.outputs and state.get(name) != content]
        return problems + [f"inputs changed: {lost}"] * bool(lost)

    def _library_problems(self, outcome: common.Outcome) -> list[str]:
        library = library_model.read(self.work / "pictures" / ".bitpool")
        if library is None:
            return [] if self.old_library is None else ["the library is gone"]
        problems = []
        allowed = {row.code for known in (self.old_library, self.new_library) if known for row in known.pictures.values()}
        for path, row in library.pictures.items():
            if row.code not in allowed:
                problems.append(f"{path}: a code that neither coder gives it")
        if self.job.name == "other-coder":
            lengths = {len(row.code) for row in library.pictures.values()}
            if len(lengths) != 1:
                problems.append("codes of two coders in one library")
        if self.old_library and not set(library.decisions) >= set(self.old_library.decisions):
            problems.append("a decision was lost")
        return problems + self._answer_problems(outcome)

    def _answer_problems(self, disturbed: common.Outcome) -> list[str]:
        if self.old_library is None:
            return []
        asked = self.work / "pictures" / "2.png"
        outcome = self.program.run("query", asked, "--library", self.work / "pictures" / ".bitpool", "--json")
        found = '"2.png"' in outcome.out or disturbed.status == common.SOME_FAILED  # that may have been the one
        if outcome.status != common.FINE or not found:
            return [f"does not answer: exit status {outcome.status}: {outcome.errors.strip()}"]
        return []

    def problems_of_rerun(self, disturbed: common.Outcome) -> list[str]:
        """Ends the work undisturbed, and compares with what an undisturbed run gives."""
        if not self._is_done() or disturbed.status == common.SOME_FAILED:
            outcome = self.program.run(*self.job.command(self.work, self.job.again))
            if outcome.status != common.FINE:
                return [f"the next run fails: exit status {outcome.status}: {outcome.errors.strip()}"]
        if self.job.library:
            return self._compare_libraries()
        state = self.state(self.work)
        different = [name for name in set(state) | set(self.after) if state.get(name) != self.after.get(name)]
        # What could not be removed is still there, and the same command would not replace the output.
        different = [name for name in different if name in self.after or name not in self.job.kept or not self._is_done()]
        return [f"after the next run these differ: {sorted(different)}"] * bool(different)

    def _is_done(self) -> bool:
        """Whether the output is there already, and the same command would refuse to replace it."""
        return not self.job.library and "--force" not in self.job.again and all(
            (self.work / name).exists() for name in self.job.outputs)

    def _compare_libraries(self) -> list[str]:
        folder = self.work / "pictures" / ".bitpool"
        library = library_model.read(folder)
        assert library is not None and self.new_library is not None
        problems = []
        if {path: row.code for path, row in library.pictures.items()} != {
                path: row.code for path, row in self.new_library.pictures.items()}:
            problems.append("after the next run the codes differ")
        if set(library.decisions) != set(self.new_library.decisions):
            problems.append("after the next run the decisions differ")
        present, expected = library_model.present_files(folder), library_model.expected_files(library)
        if present != expected:
            problems.append(f"litter {sorted(present - expected)}, missing {sorted(expected - present)}")
        outside = {str(path.relative_to(self.work)) for path in self.work.rglob("*")
                   if path.is_file() and folder not in path.parents}
        known = {name for name in self.before if not name.startswith("pictures/.bitpool/")}
        return problems + [f"litter outside: {sorted(outside - known)}"] * bool(outside - known)

