#!/usr/bin/env bash
# Fuzz for a while: `make fuzz` calls it, as FUZZ_SECONDS=20 tests/fuzz.sh [TARGET...]
#
# A target is a tests/fuzz_NAME.c with libFuzzer's entry; it is linked with gpu and core, all under ASan and UBSan. It
# starts from tests/fuzz/NAME/, which holds what earlier runs found, from a sample of the golden expressions, and
# from what the last runs of this checkout learned. An input that crashes, hangs or eats memory is saved in
# tests/fuzz/NAME/, to be fixed and committed as a regression. tests/fuzz/NAME.dict, when there is one, is its
# dictionary. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

FUZZ_SECONDS=${FUZZ_SECONDS:-20}
INPUT_SECONDS=5   # one input that takes longer is a finding: requests are answered in milliseconds
SPEC_SECONDS=60   # ... of a job's spec, which is planned and run: fuzz_spec.c itself bounds what a plan may cost
MEMORY_MB=2048    # ASan's own needs included; the arena's limit is far below
INPUT_BYTES=4096  # longer ones find little and slow down
GOLDEN_EVERY=20   # of the golden expressions, one in so many is a seed

BUILD=build/fuzz
FLAGS=(-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)

golden_seeds() {
    mkdir -p "$1"
    cat tests/golden/*.jsonl | sed -n 's/.*"expr": *"\([^"\\]*\)".*/\1/p' |
        awk -v every="$GOLDEN_EVERY" -v folder="$1" \
            'NR % every == 1 { f = folder "/" NR; printf "%s", $0 > f; close(f) }'
}

build() {
    clang -std=c17 -D_GNU_SOURCE "${FLAGS[@]}" -fsanitize=fuzzer -Icore -Igpu \
        -o "$BUILD/$1" "tests/$1.c" "$BUILD/libgpu.a" "$BUILD/libla.a" -lcjson -ldl -lm -pthread
}

fuzz() {
    local target=$1 name=${1#fuzz_} dictionary=() log=$BUILD/$1.log
    local known=tests/fuzz/$name learned=$BUILD/corpus/$name seconds=$INPUT_SECONDS
    [ "$name" != spec ] || seconds=$SPEC_SECONDS
    mkdir -p "$known" "$learned"
    [ ! -f "$known.dict" ] || dictionary=("-dict=$known.dict")
    "$BUILD/$target" -max_total_time="$FUZZ_SECONDS" -timeout="$seconds" \
        -report_slow_units="$seconds" -rss_limit_mb="$MEMORY_MB" \
        -max_len="$INPUT_BYTES" -artifact_prefix="$known/" -print_final_stats=1 "${dictionary[@]}" \
        "$learned" "$known" "$BUILD/golden" >"$log" 2>&1 </dev/null
}

targets=("$@")
[ $# -gt 0 ] || for source in tests/fuzz_*.c; do
    [ ! -f "$source" ] || targets+=("$(basename "$source" .c)")
done
[ ${#targets[@]} -gt 0 ] || { echo "fuzz.sh: there is no tests/fuzz_*.c" >&2; exit 1; }

make --no-print-directory CC=clang CONFIG=fuzz CFLAGS="${FLAGS[*]} -fsanitize=fuzzer-no-link" \
    "$BUILD/libgpu.a" "$BUILD/libla.a" >/dev/null
rm -rf "$BUILD/golden"
golden_seeds "$BUILD/golden"

passed=0 failed=0
for target in "${targets[@]}"; do
    build "$target"
    if fuzz "$target"; then
        passed=$((passed + 1))
        inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$BUILD/$target.log")
        echo "$target: $inputs inputs in $FUZZ_SECONDS s, clean"
    else
        failed=$((failed + 1))
        echo "$target: FAILED"
        tail -n 60 "$BUILD/$target.log" | sed 's/^/    /'
    fi
    rmdir --ignore-fail-on-non-empty "tests/fuzz/${target#fuzz_}" tests/fuzz
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
