#!/usr/bin/env bash
# How fast the page is, in headless Chromium: a million cells from the keystroke to the screen, and panned.
#   BUILD=build tests/bench_page.sh
# Each figure stands beside its goal; the ratio is how much of the goal is reached, 1 or more is good.
set -u
cd "$(dirname "$0")/.." || exit 1
exec tests/browser.sh --bench
