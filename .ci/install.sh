#!/usr/bin/env bash
# Installs the tool as built into $DESTDIR$PREFIX: install.sh BINARY PREFIX [DESTDIR]
# The binary, the manual page and the shells' completions, made by the binary itself.
set -euo pipefail

binary=$1
prefix=${2:-/usr/local}
root=${3:-}$prefix

install -D -m 755 "$binary" "$root/bin/wifictl"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
put() { install -D -m 644 "$made" "$root/$1"; }
"$binary" manual > "$made" && gzip -9n < "$made" > "$made.gz" && mv "$made.gz" "$made" && put share/man/man1/wifictl.1.gz
"$binary" completions bash > "$made" && put share/bash-completion/completions/wifictl
"$binary" completions zsh > "$made" && put share/zsh/site-functions/_wifictl
"$binary" completions fish > "$made" && put share/fish/vendor_completions.d/wifictl.fish
echo "installed into $root: bin/wifictl ($(stat -c %s "$root/bin/wifictl") bytes), the manual page, completions for bash, zsh and fish"
