#!/usr/bin/env bash
# The page in headless Chromium, against a real daemon with the CPU executor.
#   BUILD=build tests/browser.sh [WORD...]     only tests whose names hold a WORD; the last line is "N passed, N failed"
#   BUILD=build tests/browser.sh --bench       how fast the page is (bench_page.sh)
#   BUILD=build tests/browser.sh --shots DIR   its pictures for the documentation (screenshots.sh)
set -u
cd "$(dirname "$0")/.." || exit 1

export BUILD=${BUILD:-build}
START_SECONDS=10

fail() {
    echo "browser.sh: $*" >&2
    echo "0 passed, 1 failed"
    exit 1
}

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v google-chrome || command -v chromium-browser)} ||
    fail "there is no chromium"
export CHROMIUM
# The lock file is the list of what is installed; npm's own copy of it tells whether that is here already.
if ! cmp -s package-lock.json node_modules/.layoutd-lock.json; then
    npm ci --no-audit --no-fund --loglevel=error >&2 || fail "npm ci failed"
    cp package-lock.json node_modules/.layoutd-lock.json
fi

work=$(mktemp -d)
"$BUILD/layoutd" --listen 127.0.0.1:0 --data "$work/data" --web web --workers cpu --allow-planted-faults 2>"$work/log" &
daemon=$!
trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; rm -rf "$work"' EXIT
url=""
for _ in $(seq $((START_SECONDS * 10))); do
    url=$(sed -n 's/^layoutd: listening on //p' "$work/log")
    [ -z "$url" ] || break
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.1
done
if [ -z "$url" ]; then
    cat "$work/log" >&2
    fail "the daemon did not start"
fi

export LAYOUTD=$url
case "${1:-}" in
--bench) node tests/browser/bench.mjs ;;
--shots) node tests/browser/shots.mjs "${2:?}" ;;
*) node tests/browser/run.mjs "$@" ;;
esac
