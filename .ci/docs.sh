#!/usr/bin/env bash
# Makes the API documentation: docs.sh MODULES-DIRECTORY OUTPUT-DIRECTORY
# Fails when a public symbol has no documentation, or docc finds anything to warn of.
set -euo pipefail
cd "$(dirname "$0")/.."

modules=$1
output=$2
tools=$(dirname "$(readlink -f "$(command -v swift || echo /opt/swift/usr/bin/swift)")")
architecture=$(uname -m)
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
rm -rf "$output"
mkdir -p "$output"

for module in FrameCodec SocketCore WifiDiscovery; do
    mkdir "$graphs/$module"
    "$tools/swift-symbolgraph-extract" -module-name "$module" -I "$modules" -target "$architecture-unknown-linux-gnu" \
        -Xcc "-fmodule-map-file=Sources/CLinux/module.modulemap" -Xcc "-fmodule-map-file=Sources/COpenSSL/module.modulemap" \
        -output-dir "$graphs/$module" -minimum-access-level public -skip-synthesized-members
    python3 .ci/undocumented.py "$graphs/$module"/*.symbols.json
    "$tools/docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "wifi-discovery.$module" \
        --warnings-as-errors --output-path "$output/$module.doccarchive"
done
"$tools/docc" merge "$output"/*.doccarchive --output-path "$output/wifi-discovery.doccarchive"
archive=$output/wifi-discovery.doccarchive
echo "$archive: see it with python3 -m http.server -d $archive 8000, at http://localhost:8000/documentation/"
