#!/usr/bin/env bash
# Everything that needs a GPU, on a machine that has one, in one go: build, verify partitions on the card, start the daemon
# with its GPU worker, send it jobs, print one table. The last line is "N passed, N failed".
#
#   tests/gpu.sh                   what must hold: all sections but memcheck
#   tests/gpu.sh --memcheck        these, and memcheck
#   tests/gpu.sh gemms jobs        some sections:
#       copies     copies of all kinds, verified through the executor
#       mmas       every MMA atom that the card has, three layouts and permutations each
#       gemms      GEMMs, verified and timed beside cuBLAS
#       counters   the predictions of all these copies against the hardware's counters
#       memcheck   compute-sanitizer: memcheck over partitions of all kinds, racecheck over those through shared memory
#       jobs       the daemon: copies timed beside memcpy, refusals, faults, a team, times from POST to result
#   tests/gpu.sh --tune            also copies under other choices of unroll, cache, grid and stages
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
sections="" memcheck="" tune=""
for word in "$@"; do
    case "$word" in
        --tune) tune=--tune ;;
        --memcheck) memcheck=memcheck ;;
        copies | mmas | gemms | counters | memcheck | jobs) sections="$sections $word" ;;
        *) echo "gpu.sh: what is $word?" >&2; exit 2 ;;
    esac
done
mkdir -p "$OUT"
daemon="" data=""
finish() {
    [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; }
    [ -z "$data" ] || rm -rf "$data"
    cd "$OUT"
    local logs=()
    for log in *.log executor.jsonl counted.jsonl mma.jsonl gemm.jsonl memcheck.jsonl racecheck.jsonl; do [ ! -f "$log" ] || logs+=("$log"); done
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

passed=0 failed=0
# verdict STATUS: a section that is one test
verdict() {
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
# wrong LOG: the first failures in a suite's log
wrong() {
    grep -a -A4 -E '^ERROR|is not verified|FAILED' "$1" | cut -c1-600 | head -n 40 || true
}
# specs NAME: the specs that a suite runs, a line each
specs() {
    [ -s "$OUT/$1.jsonl" ] || "$build/tests/test_gpu_$1" --specs >"$OUT/$1.jsonl"
    cat "$OUT/$1.jsonl"
}

copies() {
    echo "== copies, through the executor"
    local status=0
    LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 200 "$build/tests/test_gpu_executor" >"$OUT/copies.log" 2>&1 || status=1
    wrong "$OUT/copies.log"
    tail -n 1 "$OUT/copies.log"
    verdict $status
}

mmas() {
    echo "== every MMA atom that the card has, layouts and permutations of it, through executors side by side"
    local status=0 shares=4 running=() share pid
    for share in $(seq 0 $((shares - 1))); do
        LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 300 "$build/tests/test_gpu_mma" --share "$share/$shares" >"$OUT/share-$share.log" 2>&1 &
        running+=($!)
    done
    for pid in "${running[@]}"; do wait "$pid" || status=1; done
    cat "$OUT"/share-*.log >"$OUT/mmas.log"
    rm "$OUT"/share-*.log
    wrong "$OUT/mmas.log"
    sed -n 's/^\[       OK \] .*"atom":"\(SM[0-9]*_64x\|SM[0-9]*\|UniversalFMA\).*/\1/p' "$OUT/mmas.log" | sort | uniq -c |
        awk '{ printf "%s %d  ", $2, $1 } END { print "verified" }'
    grep -a ' passed, ' "$OUT/mmas.log" || true
    verdict $status
}

gemms() {
    echo "== GEMMs, verified and timed beside cuBLAS"
    local status=0
    LAYOUTD_TEST_EXECUTOR=gpu:0 timeout 300 "$build/tests/test_gpu_gemm" >"$OUT/gemms.log" 2>&1 || status=1
    grep -a '^gemm ' "$OUT/gemms.log" | tee "$OUT/gemm.txt" || true
    wrong "$OUT/gemms.log"
    tail -n 1 "$OUT/gemms.log"
    verdict $status
}

counters() {
    echo "== predictions against the hardware's counters, all of the copies"
    local status=0
    specs executor >/dev/null
    python3 tests/gpu_counted.py jobs "$OUT/executor.jsonl" |
        timeout 250 "$build/layoutd-worker" executor gpu:0 >"$OUT/counted.jsonl" 2>"$OUT/counted.log" || true
    python3 tests/gpu_counted.py check "$OUT/counted.jsonl" >"$OUT/counted.log" || status=1
    grep -a -A6 -E '^(DIFFERS|FAILED)' "$OUT/counted.log" | cut -c1-400 | head -n 40 || true
    grep -a -v -E '^(DIFFERS|FAILED|    )' "$OUT/counted.log" || true
    verdict $status
}

# sanitize TOOL: run the specs of standard input under a tool of compute-sanitizer
sanitize() {
    echo "== compute-sanitizer $1"
    local status=0
    sed 's/.*/{"job":"1","spec":&,"budget":{"run_ms":1}}/' |
        timeout 300 compute-sanitizer --tool "$1" --error-exitcode 9 "$build/layoutd-worker" executor gpu:0 \
            >"$OUT/$1.jsonl" 2>"$OUT/$1.log" || status=1
    grep -a -h -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$OUT/$1.jsonl" "$OUT/$1.log" | head -n 2 || true
    echo "$(grep -a '"event":"result"' "$OUT/$1.jsonl" | grep -ac '"verified":true') verified under it"
    verdict $status
}

memcheck() {
    sanitize memcheck < <(specs executor | awk 'NR % 3 == 0' && specs mma | awk 'NR % 23 == 0' && specs gemm | awk 'NR % 4 == 1')
    sanitize racecheck < <(specs executor | grep '"smem":"' | awk 'NR % 4 == 1' &&
        specs mma | grep SM90_64x | awk 'NR % 37 == 0' && specs gemm | awk 'NR % 6 == 2')
}

jobs() {
    echo "== the daemon"
    data=$(mktemp -d)
    "$build/layoutd" --listen 127.0.0.1:0 --data "$data" --workers "${WORKERS:-auto}" --allow-planted-faults 2>"$OUT/daemon.log" &
    daemon=$!
    local url="" last
    for _ in $(seq 100); do
        url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$OUT/daemon.log" | head -n 1)
        [ -z "$url" ] || break
        sleep 0.1
    done
    [ -n "$url" ] || { cat "$OUT/daemon.log"; verdict 1; return; }
    specs executor >/dev/null
    timeout 500 python3 tests/gpu_jobs.py "$url" "$OUT/executor.jsonl" "$OUT/answers.jsonl" $tune | tee "$OUT/table.txt" || true
    last=$(tail -n 1 "$OUT/table.txt")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        tail -n 20 "$OUT/daemon.log"
        verdict 1
    fi
}

for section in ${sections:-copies mmas gemms counters $memcheck jobs}; do "$section"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
