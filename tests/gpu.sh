#!/usr/bin/env bash
# Everything that needs a GPU, on a machine that has one, in one go: build, verify partitions on the card, start the daemon
# with its GPU worker, send it jobs, print one table. The last line is "N passed, N failed".
#
#   tests/gpu.sh            what must hold
#   tests/gpu.sh --tune     also the 2 GiB copy and the transposes under other choices of unroll, cache and grid
#   tests/gpu.sh --memcheck also compute-sanitizer: memcheck over partitions of all kinds, racecheck over those through
#                           shared memory
#
# The machine needs gcc, make and python3; CUDA's toolkit and driver. What else the build needs is taken from the .deb files
# in $DEBS (default .debs, see tests/debs.sh), unpacked into build/debs, where the machine lacks it. The table and all answers
# in full go to $OUT (default build/gpu-out), and everything else there into logs.tar.gz.
set -eu
cd "$(dirname "$0")/.."

DEBS=${DEBS:-.debs}
OUT=${OUT:-build/gpu-out}
prefix=$PWD/build/debs
build=build/gpu-box
memcheck="" tune=""
for flag in "$@"; do
    case "$flag" in
        --tune) tune=--tune ;;
        --memcheck) memcheck=yes ;;
        *) echo "gpu.sh: unknown flag $flag" >&2; exit 2 ;;
    esac
done
mkdir -p "$OUT"
daemon="" data=""
finish() {
    [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; }
    [ -z "$data" ] || rm -rf "$data"
    cd "$OUT"
    local logs=()
    for log in *.log specs.jsonl counted.jsonl mma.jsonl gemm.jsonl memcheck.jsonl racecheck.jsonl; do [ ! -f "$log" ] || logs+=("$log"); done
    [ ${#logs[@]} = 0 ] || { tar -czf logs.tar.gz "${logs[@]}" && rm -f "${logs[@]}"; }
}
trap finish EXIT
export LAYOUTD_CACHE=$PWD/$build/cache # cold at first: the build folder's own

have_libraries() {
    command -v pkg-config >/dev/null 2>&1 && pkg-config --exists libmicrohttpd libcjson sqlite3 libcurl libsodium zlib &&
        echo '#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>' | gcc -fsyntax-only -xc - 2>/dev/null
}

# Unpacked packages are found by the compiler, the linker and, by a path in the programs, the loader.
compiler=gcc
if ! have_libraries; then
    ls "$DEBS"/*.deb >/dev/null
    mkdir -p "$prefix"
    for deb in "$DEBS"/*.deb; do dpkg -x "$deb" "$prefix"; done
    libraries=$prefix/usr/lib/x86_64-linux-gnu
    sed -i '/^Requires\.private/d' "$libraries"/pkgconfig/*.pc # only static linking needs those
    export PKG_CONFIG_PATH=$libraries/pkgconfig:$prefix/usr/share/pkgconfig
    export C_INCLUDE_PATH=$prefix/usr/include:$prefix/usr/include/x86_64-linux-gnu LIBRARY_PATH=$libraries
    mkdir -p "$prefix/bin"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/usr/bin/pkgconf "$@"\n' "$libraries" "$prefix" >"$prefix/bin/pkg-config"
    chmod +x "$prefix/bin/pkg-config"
    export PATH=$prefix/bin:$PATH
    compiler="gcc -Wl,-rpath,$libraries,-rpath-link,$libraries,--disable-new-dtags"
fi

make -s -j"$(nproc)" CONFIG=gpu-box CC="$compiler" all "$build/tests/test_gpu_executor" "$build/tests/test_gpu_mma" "$build/tests/test_gpu_gemm" >"$OUT/build.log" 2>&1 ||
    { tail -n 40 "$OUT/build.log"; echo "0 passed, 1 failed"; exit 1; }

# NVRTC and cuBLAS come with the toolkit, or else with a Python package.
for library in libnvrtc libcublas; do
    if ! ls /usr/local/cuda/lib64/$library.so.1? >/dev/null 2>&1 && ! ldconfig -p | grep -q "$library.so"; then
        found=$(find /opt /usr -name "$library.so.1?" 2>/dev/null | head -n 1)
        [ -z "$found" ] || export LD_LIBRARY_PATH=${found%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    fi
done

echo "== partitions on the card, through the executor"
executor=0
LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 200 "$build/tests/test_gpu_executor" >"$OUT/executor.log" 2>&1 || executor=1
grep -a -A4 -E '^ERROR|is not verified|FAILED' "$OUT/executor.log" | cut -c1-600 | head -n 40 || true
tail -n 1 "$OUT/executor.log"

echo "== every MMA atom that the card has, layouts and permutations of it, through executors side by side"
mma=0 shares=4 running=()
for share in $(seq 0 $((shares - 1))); do
    LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 300 "$build/tests/test_gpu_mma" --share "$share/$shares" >"$OUT/mma$share.log" 2>&1 &
    running+=($!)
done
for pid in "${running[@]}"; do wait "$pid" || mma=1; done
cat "$OUT"/mma?.log >"$OUT/mma.log"
rm "$OUT"/mma?.log
grep -a -A4 -E '^ERROR|is not verified' "$OUT/mma.log" | cut -c1-600 | head -n 40 || true
sed -n 's/^\[       OK \] .*"atom":"\(SM[0-9]*_64x\|SM[0-9]*\|UniversalFMA\).*/\1/p' "$OUT/mma.log" | sort | uniq -c |
    awk '{ printf "%s %d  ", $2, $1 } END { print "verified" }'
grep -a ' passed, ' "$OUT/mma.log"

echo "== GEMMs, verified and timed beside cuBLAS"
gemm=0
LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 300 "$build/tests/test_gpu_gemm" >"$OUT/gemm.log" 2>&1 || gemm=1
grep -a '^gemm ' "$OUT/gemm.log" | tee "$OUT/gemm.txt" || true
grep -a -A4 -E '^ERROR|is not verified|FAILED' "$OUT/gemm.log" | cut -c1-600 | head -n 40 || true
tail -n 1 "$OUT/gemm.log"

"$build/tests/test_gpu_executor" --specs >"$OUT/specs.jsonl"
echo "== predictions against the hardware's counters, all of these copies"
counted=0
python3 tests/gpu_counted.py jobs "$OUT/specs.jsonl" |
    timeout 200 "$build/layoutd-worker" executor gpu:0 >"$OUT/counted.jsonl" 2>"$OUT/counted.log" || true
python3 tests/gpu_counted.py check "$OUT/counted.jsonl" >"$OUT/counted.log" || counted=1
grep -a -A6 -E '^(DIFFERS|FAILED)' "$OUT/counted.log" | cut -c1-400 | head -n 40 || true
grep -a -v -E '^(DIFFERS|FAILED|    )' "$OUT/counted.log"

sanitized=0
# sanitize TOOL: run the specs of standard input under a tool of compute-sanitizer
sanitize() {
    echo "== compute-sanitizer $1"
    sed 's/.*/{"job":"1","spec":&,"budget":{"run_ms":1}}/' |
        timeout 300 compute-sanitizer --tool "$1" --error-exitcode 9 "$build/layoutd-worker" executor gpu:0 \
            >"$OUT/$1.jsonl" 2>"$OUT/$1.log" || sanitized=$((sanitized + 1))
    grep -a -h -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$OUT/$1.jsonl" "$OUT/$1.log" | head -n 2 || true
    echo "$(grep -ac '"verified":true' "$OUT/$1.jsonl") verified under it"
}
if [ -n "$memcheck" ]; then
    "$build/tests/test_gpu_mma" --specs >"$OUT/mma.jsonl"
    "$build/tests/test_gpu_gemm" --specs >"$OUT/gemm.jsonl"
    sanitize memcheck <<<"$(awk 'NR % 3 == 0' "$OUT/specs.jsonl" && awk 'NR % 23 == 0' "$OUT/mma.jsonl" &&
        awk 'NR % 4 == 1' "$OUT/gemm.jsonl")"
    sanitize racecheck <<<"$(grep '"smem":"' "$OUT/specs.jsonl" | awk 'NR % 4 == 1' && grep SM90_64x "$OUT/mma.jsonl" | awk 'NR % 37 == 0' &&
        awk 'NR % 6 == 2' "$OUT/gemm.jsonl")"
fi

echo "== the daemon"
data=$(mktemp -d)
"$build/layoutd" --listen 127.0.0.1:0 --data "$data" --workers "${WORKERS:-auto}" --allow-planted-faults 2>"$OUT/daemon.log" &
daemon=$!
url=""
for _ in $(seq 100); do
    url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$OUT/daemon.log" | head -n 1)
    [ -z "$url" ] || break
    sleep 0.1
done
[ -n "$url" ] || { cat "$OUT/daemon.log"; echo "0 passed, 1 failed"; exit 1; }

status=0
timeout 500 python3 tests/gpu_jobs.py "$url" "$OUT/specs.jsonl" "$OUT/answers.jsonl" $tune | tee "$OUT/table.txt" || status=1
last=$(tail -n 1 "$OUT/table.txt")
[[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || { tail -n 20 "$OUT/daemon.log"; echo "0 passed, 1 failed"; exit 1; }
echo "$((BASH_REMATCH[1] + 6 - executor - mma - gemm - counted - sanitized)) passed, $((BASH_REMATCH[2] + executor + mma + gemm + counted + sanitized)) failed"
[ $((status + executor + mma + gemm + counted + sanitized)) = 0 ]
