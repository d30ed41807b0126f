#!/usr/bin/env bash
# What a machine can say about the sources; `make lint` calls it. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1

JOBS=$(nproc)
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# check NAME COMMAND...: silent when it succeeds.
check() {
    local name=$1
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' "$log" | head -n 200
    fi
}

sources() {
    find core gpu server tests -name '*.[ch]'
}

formatted() {
    sources | xargs clang-format --dry-run -Werror
}

# Everything, the fuzz targets too, with warnings as errors.
compiles() {
    local cc=$1 source fuzz=()
    for source in tests/fuzz_*.c; do
        [ ! -f "$source" ] || fuzz+=("build/lint-$cc/obj/${source%.c}.o")
    done
    make -s -j"$JOBS" -k --no-print-directory CC="$cc" CONFIG="lint-$cc" CI=1 \
        all test-programs bench-programs "${fuzz[@]}"
}

analysed() {
    cppcheck --quiet -j"$JOBS" --std=c11 --language=c --error-exitcode=1 --inline-suppr \
        --enable=warning,style,performance,portability -D_GNU_SOURCE \
        --library=tests/cppcheck.cfg --suppressions-list=tests/cppcheck.txt \
        -Icore -Igpu -Iserver core gpu server tests
}

# On standard input, since node takes a .js file for a module only in newer versions.
modules() {
    local file bad=0
    for file in $(find web tests -name '*.js' -o -name '*.mjs' | grep -v node_modules); do
        node --input-type=module --check <"$file" || { echo "$file"; bad=1; }
    done
    return "$bad"
}

scripts() {
    local file bad=0
    for file in tests/*.sh .ci/run; do
        bash -n "$file" || bad=1
    done
    return "$bad"
}

check "clang-format" formatted
check "gcc, warnings as errors" compiles gcc
check "clang, warnings as errors" compiles clang
check "cppcheck" analysed
if command -v node >/dev/null 2>&1; then
    check "JavaScript modules parse" modules
else
    echo "skipped: JavaScript modules (node is not installed)"
fi
check "shell scripts parse" scripts
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
