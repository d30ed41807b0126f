#!/usr/bin/env bash
# Whole partitions against hardware counters: what core predicts of each (wavefronts of shared memory, sectors and
# requests of global memory) must be what the card counts. One table; the last line is "N passed, N failed".
#
#   tests/gpu_counts.sh             build, run under ncu, compare
#   tests/gpu_counts.sh --compile   build only, up to the program: needs nvcc and no GPU
#
# The machine needs gcc and g++, make, python3, nvcc and ncu, a card of the architecture sm_90a, and the right to read
# counters (root has it). The partitions are in gpu_counts_cases.h, the kernels come from gpu_counts_gen.c, and
# gpu_counts.py compares. Everything that was made on the way goes to $OUT (default build/gpu-out).
set -eu
cd "$(dirname "$0")/.."

OUT=${OUT:-build/gpu-out}
CONFIG=${CONFIG:-gpu-box} # as gpu.sh does: what one built the other needs not
build=build/$CONFIG
mkdir -p "$OUT" "$build"

fail() {
    echo "gpu_counts.sh: $1" >&2
    echo "0 passed, 1 failed"
    exit 1
}

# tool NAME: its path; toolkits are not always on the PATH
tool() {
    command -v "$1" && return
    local path
    for path in /usr/local/cuda/bin/"$1" /opt/cuda/bin/"$1" /opt/nvidia/nsight-compute/*/"$1"; do
        [ ! -x "$path" ] || { echo "$path"; return; }
    done
    return 1
}

nvcc=$(tool nvcc) || fail "nvcc is not installed"

{
    make -s -j"$(nproc)" CONFIG="$CONFIG" CC=gcc "$build/libla.a" &&
        gcc -std=c17 -D_GNU_SOURCE -O1 -Icore -o "$build/gpu_counts_gen" tests/gpu_counts_gen.c "$build/libla.a" &&
        "$build/gpu_counts_gen" table >"$OUT/counts-table.tsv" &&
        "$build/gpu_counts_gen" cu >"$OUT/counts.cu" &&
        "$nvcc" -gencode=arch=compute_90a,code=sm_90a -O3 -o "$build/counts" "$OUT/counts.cu"
} >"$OUT/counts-build.log" 2>&1 || { tail -n 20 "$OUT/counts-build.log"; fail "the build failed"; }
[ "${1:-}" != --compile ] || { echo "$build/counts: built"; exit 0; }

# The machine code, for a reader: each access is one instruction of its width.
if cuobjdump=$(tool cuobjdump); then
    "$cuobjdump" -sass "$build/counts" >"$OUT/counts.sass" 2>&1 || true
fi

ncu=$(tool ncu) || fail "ncu is not installed"
for space in shared global; do
    timeout 300 "$ncu" --clock-control none --print-units base --csv --metrics "$(python3 tests/gpu_counts.py --metrics $space)" \
        "$build/counts" >"$OUT/counts-$space.csv" 2>"$OUT/counts-ncu.log" ||
        { tail -n 20 "$OUT/counts-ncu.log" "$OUT/counts-$space.csv"; fail "ncu failed"; }
    grep -q '^"ID"' "$OUT/counts-$space.csv" ||
        { tail -n 20 "$OUT/counts-ncu.log" "$OUT/counts-$space.csv"; fail "ncu counted nothing"; }
done
python3 tests/gpu_counts.py "$OUT/counts-table.tsv" "$OUT"/counts-{shared,global}.csv | tee "$OUT/counts.txt"
exit "${PIPESTATUS[0]}"
