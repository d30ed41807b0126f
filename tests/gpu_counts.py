#!/usr/bin/env python3
"""Compare what core predicts of partitions with what ncu counted: gpu_counts.py TABLE CSV...

TABLE is what `gpu_counts_gen table` prints, a CSV what `ncu --csv` does, with or without lines of its own around it.
Every counter of every kernel must be as predicted, those that it should leave at 0 included. The last line is
"N passed, N failed". `gpu_counts.py --metrics SPACE` prints the counters of "shared" or "global", as ncu wants them.

Wavefronts of shared memory: two warps that reach the data stage in one cycle take turns, and the one that waits is
counted once more. The hardware counts these turns, too (ARBITRATION); what is left is what the accesses cost. Both must
come from one run of the kernel, since turns are chance: hence a run of ncu for each space, whose counters fit in one pass.
"""
import csv
import re
import sys

METRICS = {
    ("shared", "load", "wavefronts"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ("shared", "store", "wavefronts"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ("global", "load", "sectors"): "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ("global", "store", "sectors"): "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ("global", "load", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    ("global", "store", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
}
ARBITRATION = "l1tex__data_bank_conflicts_type_arbitration.sum"
NUMBERS = ("bytes", "threads", "requests", "wavefronts", "ideal", "sectors")
COLUMNS = ("kernel", "space", "op", *NUMBERS, "memory", "copy")
ROW = "{:<6} {:<6} {:<17} {:>5} {:>7} {:>5} {:>5}  {:<10} {:>9} {:>7} {:>5}  {:<6}  {}"


def read_table(path):
    with open(path, encoding="utf-8") as lines:
        rows = [dict(zip(COLUMNS, line.rstrip("\n").split("\t"))) for line in lines]
    for row in rows:
        for column in NUMBERS:
            row[column] = int(row[column])
    return rows


def metrics_of(space):
    names = [metric for of, metric in METRICS.items() if of[0] == space]
    return names + [ARBITRATION] if space == "shared" else names


def read_counts(path, counts):
    """Adds to {kernel: {metric: count}}. A value that is no number stays the text that ncu gave."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        kernel = re.match(r"\w+", row.get("Kernel Name") or "")
        if not kernel:
            continue  # the units' row of wide tables
        of = counts.setdefault(kernel.group(), {})
        if row.get("Metric Name"):  # a line a counter
            of[row["Metric Name"]] = number(row["Metric Value"])
        else:  # a column a counter
            of.update({name: number(value) for name, value in row.items() if name in (*METRICS.values(), ARBITRATION)})


def number(text):
    digits = text.replace(",", "")
    return int(float(digits)) if re.fullmatch(r"\d+(\.0+)?", digits) else text


def predictions(row):
    """Yields (unit, metric, predicted) for every counter; unit is empty where nothing should be counted."""
    kind = "store" if row["op"].startswith("st") else "load"
    for (space, op, unit), metric in METRICS.items():
        mine = (space, op) == (row["space"], kind)
        yield (unit, metric, row[unit]) if mine else ("", metric, 0)


def compare(row, counted):
    """Prints the partition's lines; returns whether all counters agree. Ways: wavefronts over the fewest possible."""
    good = True
    ways = f"{row['wavefronts'] / row['ideal']:.3g}x" if row["ideal"] else "-"
    for unit, metric, predicted in predictions(row):
        count, turns = counted.get(metric, "missing"), 0
        if unit == "wavefronts":
            turns = counted.get(ARBITRATION, "missing")
        equal = isinstance(count, int) and isinstance(turns, int) and count - turns == predicted
        good = good and equal
        if unit or not equal:
            access = [row[column] for column in ("kernel", "space", "op", "bytes", "threads", "requests")]
            print(ROW.format(*access, ways, unit or metric, predicted, count, turns, "ok" if equal else "FAILED",
                             f"{row['memory']} by {row['copy']}"))
    return good


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--metrics":
        print(",".join(metrics_of(arguments[1])))
        return 0
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    table, counts = read_table(arguments[0]), {}
    for path in arguments[1:]:
        read_counts(path, counts)
    print(ROW.format("kernel", "space", "op", "bytes", "threads", "instr", "ways", "counter", "predicted",
                     "counted", "turns", "", "partition"))
    good = [compare(row, counts.get(row["kernel"], {})) for row in table]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
