#!/usr/bin/env bash
# Run every suite of a build and add up; `make test` calls it: BUILD=build [SAN=address,undefined] tests/all.sh
#
# A suite is a program $BUILD/tests/test_*, or tests/browser.sh (not under a sanitizer: its subject is the page).
# Its last line is "N passed, N failed"; one that ends without it, or that fails without saying so, counts as one
# failure. What a suite prints is kept in $BUILD/tests/NAME.log and shown when something failed. The last line is
# the sum.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build}
SAN=${SAN:-}
SUITE_SECONDS=1800 # a suite that takes longer hangs
SHOWN_LINES=200    # of the output of a suite that failed

# A leak or a race is a failure of the suite in which it shows.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
export BUILD SAN

passed=0 failed=0

# cmocka names every test as it starts and as it passes: of a failure, only the rest is of use.
show() {
    grep -av '^\[ *\(RUN\|OK\) *\]' "$1" | tail -n "$SHOWN_LINES" | sed 's/^/    /'
    echo "    (all of it: $1)"
}

suite() {
    local name=$1 log=$BUILD/tests/$1.log start=$SECONDS status=0 last p f note=""
    shift
    # The outer redirection is for what the shell itself says of a suite that dies by a signal.
    { timeout --kill-after=10 "$SUITE_SECONDS" "$@" >"$log" 2>&1 </dev/null; } 2>/dev/null || status=$?
    last=$(tail -n 1 "$log")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}
        [ "$status" = 0 ] || [ "$f" != 0 ] || { f=1 note=", ended with status $status"; }
    else
        p=0 f=1 note=", ended with status $status before its last line"
        [ "$status" != 124 ] || note=", stopped after $SUITE_SECONDS s"
    fi
    passed=$((passed + p)) failed=$((failed + f))
    printf '%-16s %6d passed, %d failed  (%d s%s)\n' "$name" "$p" "$f" $((SECONDS - start)) "$note"
    [ "$f" = 0 ] || show "$log"
}

for program in "$BUILD"/tests/test_*; do
    # the folder also holds the logs
    [ -f "$program" ] && [ -x "$program" ] && suite "${program##*/}" "$program"
done
if [ -z "$SAN" ] && [ -x tests/browser.sh ]; then
    suite browser tests/browser.sh
fi
if [ $((passed + failed)) = 0 ]; then
    echo "all.sh: there is no test in $BUILD/tests"
    failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
