#!/usr/bin/env bash
# Install what is missing on Debian 12 or Ubuntu 24.04, and say what and why first.
#   tests/deps.sh build [test] [fuzz] [lint]
set -eu

build="gcc libc6-dev make pkg-config libmicrohttpd-dev libcjson-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev zlib1g-dev"
test="libcmocka-dev python3 curl jq nodejs npm chromium"
fuzz="clang"
lint="clang clang-format cppcheck"

missing=""
for group in "$@"; do
    case "$group" in build|test|fuzz|lint) ;; *) echo "deps.sh: unknown group '$group'" >&2; exit 2 ;; esac
    for package in ${!group}; do
        # npm and node often come from elsewhere: a working command is enough.
        case "$package" in
            nodejs) command -v node >/dev/null 2>&1 && continue ;;
            npm|gcc|make|python3|curl|jq|clang|clang-format|cppcheck) command -v "$package" >/dev/null 2>&1 && continue ;;
            chromium) command -v chromium >/dev/null 2>&1 && continue
                      command -v google-chrome >/dev/null 2>&1 && continue ;;
        esac
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
done
# libFuzzer's run-time is a package of its own, named after clang's version.
case " $* " in *" fuzz "*)
    if command -v clang >/dev/null 2>&1 && ! ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a >/dev/null 2>&1; then
        version=$(clang -dumpversion | cut -d. -f1)
        missing="$missing libclang-rt-$version-dev"
    fi ;;
esac
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "layoutd needs these Debian packages (or what your system calls them):$missing" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
echo "layoutd: installing with apt what building it needs and this machine lacks:$missing"
$sudo apt-get update -q >/dev/null
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
