"""What must be true of a library, read with Python's own SQLite and never with the code under attack."""

import dataclasses
import hashlib
import json
import pathlib
import shutil
import sqlite3
import tempfile

import common


@dataclasses.dataclass(frozen=True)
class Row:
    """A picture as the catalogue has it."""

    id: int
    size: int
    content_hash: int
    code: bytes


@dataclasses.dataclass(frozen=True)
class Library:
    """The catalogue of a library at one moment."""

    settings: dict[str, str]
    pictures: dict[str, Row]
    gathered: dict[str, Row]  # with codes of the next coder
    decisions: dict[tuple[object, ...], int]  # their numbers


def expected_files(library: Library) -> set[str]:
    """What belongs to a library; anything else is litter."""
    files = {"lock", "catalogue.sqlite", "codes.bpi", f"coder-{library.settings['coder']}.bpc"}
    for row in library.pictures.values():
        files.add(f"thumbnails/{row.id // 1000}/{row.id}.jpg")
    return files


def is_beside(path: pathlib.Path) -> bool:
    """Files that may be there or not: SQLite's own, and what was found out about pairs, which is found out again."""
    return path.name.startswith(("catalogue.sqlite-", "verdicts.sqlite"))


def present_files(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and not is_beside(path)}


def read(folder: pathlib.Path) -> Library | None:
    """The catalogue; nothing before there is one. A copy is read, since even a reader may write beside it."""
    if not (folder / "catalogue.sqlite").exists():
        return None
    with tempfile.TemporaryDirectory(dir=folder.parents[1]) as copy:
        for path in folder.glob("catalogue.sqlite*"):
            shutil.copy(path, copy)
        return _read_database(pathlib.Path(copy) / "catalogue.sqlite")


def _read_database(path: pathlib.Path) -> Library | None:
    database = sqlite3.connect(path)
    try:
        checked = database.execute("PRAGMA integrity_check").fetchone()[0]
        if checked != "ok":
            raise AssertionError(f"the database is damaged: {checked}")
        if database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            return None
        return Library(dict(database.execute("SELECT key, value FROM settings")), _pictures(database, "pictures"),
                       _pictures(database, "next_pictures"), _decisions(database))
    finally:
        database.close()


def _pictures(database: sqlite3.Connection, table: str) -> dict[str, Row]:
    rows = list(database.execute(f"SELECT path, id, size, content_hash, code, failure FROM {table}"))
    found = {path.decode(): Row(*row) for path, *row, _ in rows}
    if len(found) != len(rows):
        raise AssertionError(f"a picture is twice in {table}")
    failed = [(path, failure) for path, *_, failure in rows if failure]
    if failed:
        raise AssertionError(f"pictures that are fine were noted as bad: {failed}")
    return found


def _decisions(database: sqlite3.Connection) -> dict[tuple[object, ...], int]:
    rows = database.execute("SELECT kind, first_path, first_hash, second_path, second_hash, id FROM decisions")
    found: dict[tuple[object, ...], int] = {}
    for kind, first, first_hash, second, second_hash, number in rows:
        key = (kind, first.decode(), first_hash, second.decode(), second_hash)
        if key in found:
            raise AssertionError(f"decided twice: {key}")
        found[key] = number
    return found


class ReferenceCodes:
    """The codes that coders give to contents, made undisturbed and apart from what is attacked."""

    def __init__(self, program: common.Program, folder: pathlib.Path, contents: list[bytes]) -> None:
        self._codes: dict[tuple[str, str], bytes] = {}  # by coder and content
        self.coders: dict[str, pathlib.Path] = {}  # the coders' files by digest
        pictures = folder / "reference"
        pictures.mkdir()
        for content in contents:
            (pictures / f"{digest_of(content)}.png").write_bytes(content)
        choices: dict[str, list[object]] = {"shipped": [], "short": ["--bits", 16], "long": ["--bits", 48]}
        for name, arguments in choices.items():
            library = folder / f"reference-{name}"
            program.must("index", pictures, "--library", library, *arguments, "--quiet")
            self._take(library)

    def _take(self, folder: pathlib.Path) -> None:
        library = read(folder)
        assert library is not None
        coder = library.settings["coder"]
        self.coders[coder] = folder / f"coder-{coder}.bpc"
        for path, row in library.pictures.items():
            self._codes[coder, pathlib.Path(path).stem] = row.code

    def code(self, coder: str, content: bytes) -> bytes:
        return self._codes[coder, digest_of(content)]

    def content_of(self, coder: str, code: bytes) -> bool:
        """Whether this coder made this code of anything."""
        return any(key[0] == coder and value == code for key, value in self._codes.items())


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def distance(first: bytes, second: bytes) -> int:
    return (int.from_bytes(first, "little") ^ int.from_bytes(second, "little")).bit_count()


def check_valid(library: Library, references: ReferenceCodes) -> list[str]:
    """What is wrong with a library in the middle of anything: codes of one coder only, which is the one it names."""
    problems = []
    for rows, setting in ((library.pictures, "coder"), (library.gathered, "next_coder")):
        coder = library.settings.get(setting, "")
        for path, row in rows.items():
            if not references.content_of(coder, row.code):
                problems.append(f"{path}: its code is not of the {setting} {coder}")
    ids = [row.id for rows in (library.pictures, library.gathered) for row in rows.values()]
    if len(set(ids)) != len(ids):
        problems.append("an id is given twice")
    return problems


def check_complete(folder: pathlib.Path, pictures: dict[str, bytes], coder: str, references: ReferenceCodes) -> list[str]:
    """What is wrong with a library after an update that ended well."""
    library = read(folder)
    if library is None:
        return ["there is no library"]
    problems = check_valid(library, references)
    if library.settings["coder"] != coder:
        problems.append(f"the coder is {library.settings['coder']}, expected {coder}")
        return problems
    if library.gathered or library.settings["next_coder"] or library.settings["unfinished"] != "0":
        problems.append("something is still unfinished")
    if set(library.pictures) != set(pictures):
        problems.append(f"pictures differ: {sorted(set(library.pictures) ^ set(pictures))}")
    for path in set(library.pictures) & set(pictures):
        if library.pictures[path].code != references.code(coder, pictures[path]):
            problems.append(f"{path}: the code is not that of its content")
    present, expected = present_files(folder), expected_files(library)
    if present != expected:
        problems.append(f"litter {sorted(present - expected)}, missing {sorted(expected - present)}")
    return problems


def check_answer(program: common.Program, folder: pathlib.Path, asked: pathlib.Path, references: ReferenceCodes) -> list[str]:
    """Asks for the pictures nearest to one, and compares all of them with brute force over the catalogue's codes."""
    outcome = program.run("query", asked, "--library", folder, "--hamming", "-k", 1000, "--json")
    if outcome.status != common.FINE:
        return [f"does not answer: exit status {outcome.status}: {outcome.errors.strip()}"]
    library = read(folder)
    assert library is not None
    code = references.code(library.settings["coder"], asked.read_bytes())
    expected = {(path, distance(code, row.code)) for path, row in library.pictures.items()}
    hits = json.loads(outcome.out)
    found = {(hit["path"], hit["distance"]) for hit in hits}
    order = [hit["distance"] for hit in hits]
    if found != expected or order != sorted(order) or len(hits) != len(found):
        return [f"a wrong answer: {sorted(found ^ expected)[:4]}"]
    return []
