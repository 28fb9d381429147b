#!/usr/bin/env bash
# Makes dist/wifictl_VERSION_ARCH.deb of a binary whose Swift is linked in: deb.sh BINARY
set -euo pipefail
cd "$(dirname "$0")/.."

binary=$1
version=$("$binary" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

.ci/install.sh "$binary" /usr "$root/package" > /dev/null
# Debian keeps what zsh completes elsewhere.
mkdir -p "$root/package/usr/share/zsh/vendor-completions" "$root/package/usr/share/doc/wifictl" "$root/package/DEBIAN"
mv "$root/package/usr/share/zsh/site-functions/_wifictl" "$root/package/usr/share/zsh/vendor-completions/"
rmdir "$root/package/usr/share/zsh/site-functions"
cp docs/protocol.md "$root/package/usr/share/doc/wifictl/"
gzip -9n < CHANGELOG.md > "$root/package/usr/share/doc/wifictl/changelog.gz"
cp LICENSE "$root/package/usr/share/doc/wifictl/copyright"

# dpkg-shlibdeps reads the binary's libraries and wants a source package around it; behind -e a blank would name another file, an empty one.
mkdir -p "$root/source/debian"
printf 'Source: wifictl\n\nPackage: wifictl\nArchitecture: any\n' > "$root/source/debian/control"
depends=$(cd "$root/source" && dpkg-shlibdeps -O -e"$root/package/usr/bin/wifictl" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb: dpkg-shlibdeps found no libraries in $binary" >&2; exit 1; }

cat > "$root/package/DEBIAN/control" <<CONTROL
Package: wifictl
Version: $version
Architecture: $architecture
Maintainer: wifi-discovery <wifi-discovery@example.com>
Installed-Size: $(du -sk --exclude DEBIAN "$root/package" | cut -f1)
Depends: $depends
Section: net
Priority: optional
Description: finds Wi-Fi routers on a LAN and talks to them
 Tells which router this machine is connected to and whose it is, and holds
 sessions with it that lose nothing and deliver nothing twice. Also a router
 to test against, a fuzzer, a conformance check and a frame cutter.
CONTROL
chmod -R u=rwX,go=rX "$root/package"
mkdir -p dist
dpkg-deb --root-owner-group --build "$root/package" "dist/wifictl_${version}_$architecture.deb" > /dev/null
echo "dist/wifictl_${version}_$architecture.deb: $(stat -c %s "dist/wifictl_${version}_$architecture.deb") bytes, depends on $depends"
