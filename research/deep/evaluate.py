"""Measures the runs of run.py with Bitpool's own `eval`, and writes one small JSON file of results.

    python3 evaluate.py RUNS --program build/release/bitpool --results results/h200.json --commit 9abcdef

Binary codes are measured by `bitpool eval`, whose mean average precision knows ties. DQN is searched by distances of
real numbers, which have none, so its figure is the run's own.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

TOP = {"unsupervised": 1000}  # tab:deepbit counts the first 1,000 results, the other tables all


def measured(program: str, codes: pathlib.Path, bits: int, top: int) -> float:
    """mAP in percent of the codes of a run."""
    with tempfile.TemporaryDirectory() as folder, np.load(codes) as arrays:
        paths = {}
        for name in ("database", "queries", "database_labels", "query_labels"):
            array = arrays[name]
            paths[name] = f"{folder}/{name}.npy"
            np.save(paths[name], array.astype(np.int32) if name.endswith("labels") else array)
        command = [program, "--json", "eval", "--bits", str(bits), "--cutoff", str(top)]
        # Figures of the first results are divided by what was found there, as in our own runs of these tables.
        command += ["--divisor", "found" if top else "existing"]
        command += ["--database-codes", paths["database"], "--queries-codes", paths["queries"]]
        command += ["--labels", paths["database_labels"], "--query-labels", paths["query_labels"]]
        return 100 * json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["mAP"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=pathlib.Path)
    parser.add_argument("--program", default="build/release/bitpool")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--commit", required=True, help="of the programs that made the runs")
    arguments = parser.parse_args()
    grouped = collections.defaultdict(dict)
    facts = {}
    for path in sorted(arguments.runs.glob("*.json")):
        run = json.loads(path.read_text())
        if run["setting"].startswith("nested"):
            continue
        top = TOP.get(run["setting"], 0)
        of_record = run["quality"]
        if run["method"] != "dqn":
            of_record = measured(arguments.program, path.with_suffix(".npz"), run["bits"], top)
        key = tuple(run[name] for name in ("setting", "dataset", "network", "method", "bits"))
        grouped[key][run["seed"]] = round(of_record, 2)
        constants = {name: run[name] for name in ("size", "steps", "batch", "rate", "decay", "drop")}
        facts[key] = constants | {"machine": run["machine"], "torch": run["torch"]}
    rows = []
    for key, values in sorted(grouped.items()):
        row = dict(zip(("setting", "dataset", "network", "method", "bits"), key))
        row |= {"mAP": round(statistics.fmean(values.values()), 2), "seeds": values, **facts[key]}
        rows.append(row)
        print(f"{' '.join(map(str, key))}: {row['mAP']:.2f} over {len(values)}")
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    arguments.results.write_text(f'{{"commit": "{arguments.commit}", "runs": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
