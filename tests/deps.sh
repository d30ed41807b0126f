#!/usr/bin/env bash
# Install what is missing on Debian 12 or Ubuntu 24.04, and say what and why first.
#   tests/deps.sh build [run] [test] [fuzz] [lint]
set -eu

build="gcc libc6-dev make pkg-config libmicrohttpd-dev libcjson-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev zlib1g-dev"
run="librsvg2-2" # for PNG and PDF; without it /render answers those with 501, so what fails to install is only told
test="libcmocka-dev python3 openssl curl jq nodejs npm chromium libxml2-utils librsvg2-bin poppler-utils"
fuzz="clang"
lint="clang clang-format cppcheck"

missing="" wanted=""
for group in "$@"; do
    case "$group" in build|run|test|fuzz|lint) ;; *) echo "deps.sh: unknown group '$group'" >&2; exit 2 ;; esac
    for package in ${!group}; do
        # npm and node often come from elsewhere: a working command is enough.
        case "$package" in
            nodejs) command -v node >/dev/null 2>&1 && continue ;;
            npm|gcc|make|python3|openssl|curl|jq|clang|clang-format|cppcheck) command -v "$package" >/dev/null 2>&1 && continue ;;
            chromium) command -v chromium >/dev/null 2>&1 && continue
                      command -v google-chrome >/dev/null 2>&1 && continue ;;
        esac
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
        if [ "$group" = run ]; then wanted="$wanted $package"; else missing="$missing $package"; fi
    done
done
# libFuzzer's run-time is a package of its own, named after clang's version.
case " $* " in *" fuzz "*)
    if command -v clang >/dev/null 2>&1 && ! ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a >/dev/null 2>&1; then
        version=$(clang -dumpversion | cut -d. -f1)
        missing="$missing libclang-rt-$version-dev"
    fi ;;
esac
[ -n "$missing$wanted" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    [ -z "$wanted" ] || echo "layoutd can do more with these Debian packages (or what your system calls them):$wanted" >&2
    [ -n "$missing" ] || exit 0
    echo "layoutd needs these Debian packages (or what your system calls them):$missing" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
[ -z "$sudo" ] || [ -n "$missing" ] || sudo="sudo -n" # nobody is asked for a password for what is only wanted
install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null
}
echo "layoutd: installing with apt what this machine lacks:$missing$wanted"
$sudo apt-get update -q >/dev/null || [ -z "$missing" ]
[ -z "$missing" ] || install $missing
[ -z "$wanted" ] || install $wanted || echo "layoutd: without$wanted some formats of /render are not there" >&2
