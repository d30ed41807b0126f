#!/usr/bin/env bash
# Prove the README's two commands, `make run` and `make test`, on a Debian 12 that has nothing installed.
#
#   tests/fresh.sh [--cache FILE.tar] [FOLDER]
#
# A minimal Debian is bootstrapped into FOLDER (a temporary one that is removed again when left out), from the
# mirror that this machine's own apt uses; with --cache the bare root is taken from that file, or kept there. The
# checkout's HEAD is cloned into it. Added by hand is only what gets a person that far, make, and curl to look at
# the answers.
#
# Needs root. The work happens in mount and process namespaces of its own: what was mounted or started is gone
# when this ends, however it ends. The last line is "N passed, N failed".
set -euo pipefail

SUITE=bookworm
RUN_SECONDS=900  # until the daemon listens: apt, then a build
TEST_SECONDS=5400 # of `make test`: what a run of CI may take
HOST_CERTIFICATES=/etc/ssl/host.crt # of this machine, where it has some of its own for npm
STOP_SECONDS=30  # from SIGTERM to the end of the daemon

die() {
    echo "fresh.sh: $*" >&2
    exit 2
}

# ---- outside: the folder, and the end of everything ----

main() {
    local cache="" folder=""
    while [ $# -gt 0 ]; do
        case "$1" in
            --cache) cache=$(realpath -m "${2:?--cache needs a file}"); shift 2 ;;
            -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
            *) folder=$1; shift ;;
        esac
    done
    [ "$(id -u)" = 0 ] || die "needs root, for debootstrap and chroot; try: sudo $0"
    local tool
    for tool in debootstrap unshare git curl; do
        command -v "$tool" >/dev/null ||
            die "$tool is missing; try: apt-get install debootstrap util-linux git curl"
    done
    keep=$folder
    if [ -n "$folder" ]; then
        mkdir -p "$folder"
        [ -z "$(ls -A "$folder")" ] || die "$folder is not empty"
    else
        folder=$(mktemp -d "${TMPDIR:-/tmp}/layoutd-fresh.XXXXXX")
    fi
    root=$(realpath "$folder")
    # Only the child of unshare lives in the new namespaces; when unshare dies, the kernel ends all of them.
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    unshare --mount --propagation private --pid --fork --kill-child "$0" --inside "$root" "$cache" &
    worker=$!
    local status=0
    wait "$worker" || status=$?
    worker=""
    exit "$status"
}

finish() {
    local status=$?
    if [ -n "${worker:-}" ]; then
        kill -KILL "$worker" || true # unshare ignores the milder ones
        wait "$worker" || true
    fi 2>/dev/null
    [ -n "$keep" ] || rm -rf --one-file-system "$root"
    exit "$status"
}

# ---- inside: the root ----

# "URI SUITE COMPONENT" of every Debian source of this machine that is of our suite.
host_sources() {
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
        awk -v suite="$SUITE" '$4 == "Debian" && index($2, suite) == 1 { print $1, $2, $3 }' | sort -u
}

make_root() {
    local root=$1 cache=$2 mirror
    if [ -n "$cache" ] && [ -f "$cache" ]; then
        tar -C "$root" -xf "$cache"
    else
        mirror=$(host_sources | awk -v suite="$SUITE" '$2 == suite { print $1; exit }')
        [ -n "$mirror" ] ||
            die "this machine's apt knows no mirror of Debian $SUITE; is it up to date (apt-get update)?"
        debootstrap --variant=minbase "$SUITE" "$root" "$mirror" >"$root.log" 2>&1 || {
            cat "$root.log" >&2
            die "debootstrap failed"
        }
        rm -f "$root.log"
        if [ -n "$cache" ]; then
            tar -C "$root" -cf "$cache.part" . && mv "$cache.part" "$cache"
        fi
    fi
    chmod 755 "$root" # apt's own user must get in
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    host_sources | sed 's/^/deb /' >"$root/etc/apt/sources.list"
    # The way out of this machine, should it have one of its own.
    apt-config dump | grep -i '^Acquire::[a-z]*::proxy' >"$root/etc/apt/apt.conf.d/00host" || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    local file=${NODE_EXTRA_CA_CERTS:-}
    # Under a name of its own: installing ca-certificates writes the usual one anew.
    [ ! -f "$file" ] || install -D -m 644 "$file" "$root$HOST_CERTIFICATES"
}

# Nothing of this machine's environment gets in, but the way to the package registries.
settings() {
    echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    printf '%s\n' HOME=/root LANG=C.UTF-8 TERM=dumb
    env | grep -iE '^(https?_proxy|no_proxy)=' || true
    [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || echo "NODE_EXTRA_CA_CERTS=$HOST_CERTIFICATES"
    if command -v npm >/dev/null; then
        echo "npm_config_registry=$(npm config get registry 2>/dev/null)"
    fi
}

# Replaces the shell it runs in, so that the process's id is known: (in_root make) & kill $!
in_root() {
    exec chroot "$root" /usr/bin/env -i "${environment[@]}" \
        sh -c 'cd /root/layoutd 2>/dev/null; exec "$@"' sh "$@" </dev/null
}

pass() {
    passed=$((passed + 1))
    echo "ok: $1"
}
fail() {
    failed=$((failed + 1))
    echo "FAILED: $1"
    [ -z "${2:-}" ] || tail -n 40 "$2" | sed 's/^/    /'
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}
listening_or_dead() {
    grep -q 'layoutd: listening on' "$1" || ! kill -0 "$2" 2>/dev/null
}
gone() {
    ! kill -0 "$1" 2>/dev/null
}

# ---- the two commands ----

check_run() {
    local log=$root/tmp/run.log make url line page answer
    # Any free port: this machine's 8080 may be taken.
    (in_root make run LISTEN=127.0.0.1:0) >"$log" 2>&1 &
    make=$!
    wait_for "$RUN_SECONDS" listening_or_dead "$log" "$make" || true
    url=$(sed -n 's/.*layoutd: listening on \(http[^ ]*\).*/\1/p' "$log" | head -n 1)
    if [ -z "$url" ]; then
        fail "make run prints its URL" "$log"
        kill "$make" 2>/dev/null || true
        wait "$make" || true
        return
    fi
    pass "make run prints its URL: $url"

    page=$( (in_root curl -fsS --max-time 10 "$url/") 2>&1) || true
    case "$page" in
        *"<html"*) pass "the URL shows the page" ;;
        *) fail "the URL shows the page, not: ${page:0:200}" "$log" ;;
    esac
    line=$(grep -o "curl .*${url##*:}.*" "$log" | head -n 1) || true
    answer=$( (in_root sh -c "${line:-false}") 2>&1) || true
    case "$answer" in
        *'"cute"'*) pass "the printed line answers: $line" ;;
        *) fail "a curl line is printed and answers; line '$line', answer: ${answer:0:200}" "$log" ;;
    esac

    # make passes the signal on to the daemon.
    kill -TERM "$make"
    if wait_for "$STOP_SECONDS" gone "$make" && ! curl -fsS --max-time 2 "$url/livez" >/dev/null 2>&1; then
        pass "SIGTERM ends the daemon"
    else
        fail "SIGTERM ends the daemon within $STOP_SECONDS s" "$log"
    fi
    wait "$make" || true
}

check_test() {
    local log=$root/tmp/test.log status=0 last
    (in_root timeout "$TEST_SECONDS" make test) >"$log" 2>&1 || status=$?
    last=$(tail -n 1 "$log")
    if [ "$status" = 0 ] && [[ $last =~ ^[1-9][0-9]*\ passed,\ 0\ failed ]]; then
        pass "make test: $last"
    else
        fail "make test ends with status 0 and 'N passed, 0 failed'; it ended with status $status" "$log"
    fi
}

inside() {
    root=$1
    passed=0 failed=0
    make_root "$root" "$2"
    pass "a bare Debian $(cat "$root/etc/debian_version") of $(chroot "$root" dpkg-query -W | wc -l) packages"
    mapfile -t environment < <(settings)
    (in_root sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y make curl') \
        >"$root/tmp/apt.log" 2>&1 || {
        cat "$root/tmp/apt.log" >&2
        die "apt does not work in the bare root"
    }
    git clone -q "$(dirname "$0")/.." "$root/root/layoutd" || die "cannot clone the checkout"
    check_run
    check_test
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

if [ "${1:-}" = --inside ]; then
    inside "$2" "$3"
else
    main "$@"
fi
