#!/usr/bin/env bash
# The pictures of the page in docs/, from a daemon with the CPU executor.
#   BUILD=build tests/screenshots.sh [FOLDER]     docs if absent
set -eu
cd "$(dirname "$0")/.."
folder=${1:-docs}
mkdir -p "$folder"
tests/browser.sh --shots "$folder"
find "$folder" -name 'page-*.png' -size +200k | sed 's/$/: more than 200 KB/' >&2
