#!/usr/bin/env python3
"""Every prediction of many copies held against the hardware's counters.

    gpu_counted.py jobs SPECS > JOBS           lines for an executor: each spec of SPECS with counters asked for
    gpu_counted.py check ANSWERS               what the executor answered, as one table

A side of a copy (src, dst, smem_store, smem_load) is equal, or but for the turns that the hardware counts, or the prediction
says why no counter shows it. The last line is "N passed, N failed", a copy each.
"""
import collections
import json
import sys


def jobs(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            spec = {**json.loads(line), "counters": True}
            print(json.dumps({"job": str(number), "spec": spec, "budget": {"run_ms": 1}}))


def verdicts(counters):
    """Yields (side, verdict) of one copy."""
    apart = counters["predicted"].get("not_compared", {})
    for side in counters["predicted"]:
        if side in apart:
            yield side, "not compared"
        elif side in counters["equal"]:
            equal = "equal but for turns" if side in counters.get("arbitration", {}) else "equal"
            yield side, equal if counters["equal"][side] else "DIFFERS"


def show(result):
    """A copy that differs: its numbers, predicted/measured."""
    counters = result["counters"]
    print("DIFFERS", json.dumps({k: v for k, v in result["spec"].items() if k not in ("executor", "counters")}))
    for side, numbers in counters["predicted"].items():
        if side in counters["measured"]:
            print(f"    {side:10s} " + "  ".join(f"{key} {value:.0f}/{counters['measured'][side][key]:.0f}"
                                                for key, value in numbers.items() if key in counters["measured"][side]))
    print(f"    arbitration {counters['measured'].get('arbitration', 0):.0f}")


def check(path):
    table, passed, failed = collections.Counter(), 0, 0
    with open(path, encoding="utf-8", errors="replace") as lines:
        events = [json.loads(line) for line in lines if line.startswith("{")]
    for event in events:
        if event["event"] == "failed":
            failed += 1
            print("FAILED ", event["failure"]["message"][:300])
        if event["event"] != "result":
            continue
        result = event["result"]
        counters = result["counters"]
        good = result["verified"] and counters.get("measured") is not None
        if not good:
            print("FAILED ", counters.get("why") or "not verified", json.dumps(result["spec"]))
        else:
            found = list(verdicts(counters))
            table.update(found)
            good = all(verdict != "DIFFERS" for _, verdict in found)
            if not good:
                show(result)
        passed, failed = passed + good, failed + (not good)
    for (side, verdict), count in sorted(table.items()):
        print(f"{side:10s} {verdict:30s} {count}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("jobs", "check"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(check(sys.argv[2]) if sys.argv[1] == "check" else jobs(sys.argv[2]))
