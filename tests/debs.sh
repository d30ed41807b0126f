#!/usr/bin/env bash
# Fetch what building and running layoutd needs, as .deb files, for a machine that has gcc, make and a GPU but no package
# registry: tests/debs.sh [FOLDER]; tests/gpu.sh unpacks them there. Run it on the Debian or Ubuntu that the files are to
# come from, with the build's packages installed (tests/deps.sh build test): what they are linked with is found by ldd.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-.debs}
headers="libmicrohttpd-dev libcjson-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev zlib1g-dev libcmocka-dev"
libraries="libmicrohttpd.so libcjson.so libsqlite3.so libcurl.so libsodium.so libz.so libcmocka.so"
tools="pkg-config pkgconf pkgconf-bin libpkgconf3"
given="libc6 libgcc-s1 libstdc++6" # every machine with gcc has newer ones

# The packages that own the shared libraries, and all that these are linked with.
owners() {
    local library path
    for library in $libraries; do
        path=$(gcc -print-file-name="$library")
        [ "$path" != "$library" ] || { echo "debs.sh: $library is not installed" >&2; exit 1; }
        echo "$path"
        ldd "$path" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
    done | xargs -n1 realpath | sort -u | sed 'p;s,^/usr,,' | xargs dpkg -S 2>/dev/null | sed 's/:.*//' | sort -u
}

mkdir -p "$folder"
! [ -d .git/info ] || grep -qxF "/$folder/" .git/info/exclude 2>/dev/null || echo "/$folder/" >>.git/info/exclude
packages=$(for package in $(owners) $headers $tools; do
    case " $given " in *" $package "*) ;; *) apt-cache show "$package" >/dev/null 2>&1 && echo "$package" ;; esac
done)
# shellcheck disable=SC2086 # a list of packages
(cd "$folder" && apt-get download -q $packages)
echo "$folder: $(find "$folder" -name '*.deb' | wc -l) files, $(du -sh "$folder" | cut -f1)"
