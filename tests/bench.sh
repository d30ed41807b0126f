#!/usr/bin/env bash
# Run every benchmark of a build, one after the other: `make bench` calls it, as BUILD=build tests/bench.sh
#
# A benchmark is a program $BUILD/tests/bench_*, or a tests/bench_*.sh for what takes more than one process. It
# prints a table in which each figure stands beside the ceiling that the same run measured.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}

ran=0 status=0
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo "$(nproc) cores, $processor, load $(cut -d' ' -f1 /proc/loadavg)"
for program in "$BUILD"/tests/bench_* tests/bench_*.sh; do
    { [ -f "$program" ] && [ -x "$program" ]; } || continue
    ran=$((ran + 1))
    printf '\n== %s\n' "$(basename "$program" .sh)"
    "$program" </dev/null || {
        echo "bench.sh: $program ended with status $?" >&2
        status=1
    }
done
if [ "$ran" = 0 ]; then
    echo "bench.sh: there is no benchmark in $BUILD/tests" >&2
    status=1
fi
exit "$status"
