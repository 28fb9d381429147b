#!/usr/bin/env bash
# Makes sure that what a purpose needs is there: setup.sh build|test|lan|deb|test-deb
# Looks for the things themselves (a command, a header), not for package names, and installs Debian's packages only for
# what is missing, only as root, and only after saying so.
set -euo pipefail

purpose=${1:-build}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

missing=()
need_command() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
# A program that begins to serve when its package is installed: here it is wanted for the tests' own namespaces alone.
daemons=()
need_daemon() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 || daemons+=("$2"); }
need_file() {
    local file
    for file in $1; do [ -e "$file" ] && return; done
    missing+=("$2")
}

# Distributions differ in where the toolchain goes; the usual place counts even when it isn't in PATH.
command -v swift >/dev/null 2>&1 || [ -x /opt/swift/usr/bin/swift ] ||
    fail "no swift in PATH nor in /opt/swift/usr/bin: install a Swift 6.3 toolchain from swift.org and try again"

need_command pkg-config pkg-config
need_file "/usr/include/openssl/ssl.h /usr/local/include/openssl/ssl.h" libssl-dev
need_file "/usr/include/linux/nl80211.h" linux-libc-dev
case $purpose in
build) ;;
test)
    need_command python3 python3
    need_command openssl openssl
    need_command bash bash
    # Tests that need these skip themselves without: worth installing, not worth failing for.
    if [ "$(id -u)" -eq 0 ]; then
        need_command tshark tshark
        need_command gnutls-serv gnutls-bin
        need_command tmux tmux
        need_command zsh zsh
        need_command fish fish
        need_command man man-db
        need_command mandoc mandoc
    fi
    ;;
lan)
    need_command python3 python3
    need_command ip iproute2
    need_command nft nftables
    # Other makers' discovery, as Debian packages it; where they can't be had, the tests that need them skip themselves.
    if [ "$(id -u)" -eq 0 ]; then
        need_daemon miniupnpd miniupnpd
        need_daemon avahi-daemon avahi-daemon
        need_daemon mactelnetd mactelnet-server
        need_command gssdp-discover gupnp-tools
        need_command avahi-browse avahi-utils
        need_command mndp mactelnet-client
        need_command dbus-daemon dbus
    fi
    ;;
deb)
    need_command dpkg-deb dpkg
    need_command dpkg-shlibdeps dpkg-dev
    ;;
test-deb) need_command mmdebstrap mmdebstrap ;;
*) fail "unknown purpose '$purpose': one of build, test, lan, deb, test-deb" ;;
esac

[ ${#missing[@]} -gt 0 ] || [ ${#daemons[@]} -gt 0 ] || exit 0
say "missing: ${missing[*]} ${daemons[*]}"
command -v apt-get >/dev/null 2>&1 || fail "no apt-get here: install these (Debian's names) with your system's package manager"
[ "$(id -u)" -eq 0 ] || fail "run this once as root: apt-get install ${missing[*]}"
say "installing them with apt-get"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >&2
[ ${#missing[@]} = 0 ] || apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
[ ${#daemons[@]} -gt 0 ] || exit 0

# Debian's way to install a service without starting it; on a machine with systemd it isn't started at the next boot either.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi
for daemon in "${daemons[@]}"; do
    apt-get install -q -y --no-install-recommends "$daemon" >&2 ||
        { say "without $daemon a test of foreign dialects is skipped"; continue; }
    [ -d /run/systemd/system ] || continue
    dpkg -L "$daemon" | sed -n 's,.*/systemd/system/\([^/]*\.\(service\|socket\)\)$,\1,p' |
        xargs -r systemctl disable -q >&2 || say "$daemon may serve this machine's network at the next boot: systemctl disable it"
done
