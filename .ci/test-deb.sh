#!/usr/bin/env bash
# Installs a .deb into a Debian that has nothing else and lets it show there that it works: test-deb.sh FILE.deb
# Needs root, mmdebstrap and a mirror. The root is thrown away.
set -euo pipefail

package=$(readlink -f "$1")
suite=${SUITE:-bookworm}
root=$(mktemp -d)
trap 'umount -q "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT

echo "test-deb: a clean Debian $suite"
mmdebstrap --quiet --variant=apt "$suite" "$root" ${MIRROR:+"$MIRROR"}
[ ! -e "$root/opt/swift" ] || { echo "test-deb: there is Swift in the clean root" >&2; exit 1; }
cp "$package" "$root/wifictl.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp DEBIAN_FRONTEND=noninteractive "$@"; }

inside apt-get update -q > /dev/null
inside apt-get -o Dpkg::Use-Pty=0 install -q -y --no-install-recommends /wifictl.deb > /dev/null
echo "test-deb: installed; libraries:"
inside ldd /usr/bin/wifictl
# A line that begins with ! never ends a script, whatever comes out.
if inside ldd /usr/bin/wifictl | grep -E 'not found|swift'; then
    echo "test-deb: a library is missing, or is Swift's" >&2
    exit 1
fi
inside wifictl --version
inside wifictl demo
inside wifictl manual | head -1 | grep -q '^.TH WIFICTL'
for file in /usr/share/man/man1/wifictl.1.gz /usr/share/bash-completion/completions/wifictl \
    /usr/share/zsh/vendor-completions/_wifictl /usr/share/fish/vendor_completions.d/wifictl.fish; do
    inside test -s "$file"
done
inside apt-get -o Dpkg::Use-Pty=0 remove -q -y wifictl > /dev/null
if inside test -e /usr/bin/wifictl; then
    echo "test-deb: /usr/bin/wifictl is left after the package was removed" >&2
    exit 1
fi
echo "test-deb: installed, ran and went away in a clean Debian $suite"
