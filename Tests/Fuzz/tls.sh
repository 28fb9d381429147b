#!/usr/bin/env bash
# libFuzzer with the address sanitizer over what strangers send before they are known: TLS engines, certificates, revocation lists.
#
#   Tests/Fuzz/tls.sh 60s [engine|certificate...]
#
# Like run.sh, with the whole of SocketCore and OpenSSL linked in.
set -euo pipefail
cd "$(dirname "$0")/../.."

total=${1:-60s}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(engine certificate)
case $total in
    *m) seconds=$((${total%m} * 60)) ;;
    *) seconds=${total%s} ;;
esac
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

swiftc=${SWIFTC:-$(command -v swiftc || echo /opt/swift/usr/bin/swiftc)}
out=.build/libfuzzer-tls
mkdir -p "$out" fuzz-artifacts
flags=(-O -g -sanitize=fuzzer,address -parse-as-library -enable-experimental-feature Lifetimes -package-name wifi-discovery -I "$out"
    -Xcc "-fmodule-map-file=Sources/CLinux/module.modulemap" -Xcc "-fmodule-map-file=Sources/COpenSSL/module.modulemap")
for option in $(pkg-config --cflags openssl); do flags+=(-Xcc "$option"); done

module() {
    local name=$1 object="$out/$1.o"
    if [ ! -e "$object" ] || [ -n "$(find "Sources/$name" -newer "$object" -name '*.swift' -print -quit)" ]; then
        echo "compiling $name" >&2
        find "Sources/$name" -name '*.swift' -not -path '*/Portable/*' -print0 | sort -z |
            xargs -0 "$swiftc" "${flags[@]}" -swift-version 6 -wmo \
            -module-name "$name" -emit-module -emit-module-path "$out/$name.swiftmodule" -c -o "$object"
    fi
}
module FrameCodec
module SocketCore

# Something to begin with: a good certificate, the beginning of a hello, an alert.
seed() {
    local target=$1 folder="$out/corpus/$1"
    mkdir -p "$folder"
    [ -z "$(ls -A "$folder")" ] || return 0
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$out/key.pem" -out "$out/certificate.pem" -subj /CN=seed \
        -addext "subjectAltName=URI:urn:dev:org:32473-mac:02005e005301,URI:urn:dev:org:32473-bssid:02005e005311" 2>/dev/null
    if [ "$target" = certificate ]; then
        openssl x509 -in "$out/certificate.pem" -outform DER -out "$folder/certificate"
        cp "$out/certificate.pem" "$folder/pem"
        return 0
    fi
    printf '\001\000\026\003\001\000\005\001\000\000\001\003' >"$folder/hello"
    printf '\000\000\025\003\003\000\002\002\050' >"$folder/alert"
}

for target in "${targets[@]}"; do
    sed "s/@NAME@/$target/" Tests/Fuzz/TLSTarget.swift.in >"$out/$target.swift"
    "$swiftc" "${flags[@]}" -swift-version 5 -module-name "Fuzz_$target" \
        "$out/$target.swift" -Xlinker "$out/FrameCodec.o" -Xlinker "$out/SocketCore.o" -lssl -lcrypto -o "$out/fuzz-$target" \
        2> >(grep -v "Cannot export local symbol" >&2)
    seed "$target"
    echo "fuzzing $target for $each s" >&2
    TMPDIR="$out" SWIFT_BACKTRACE=enable=no "$out/fuzz-$target" -max_total_time="$each" -timeout=10 -rss_limit_mb=1024 -max_len=8192 \
        -print_final_stats=1 -artifact_prefix="fuzz-artifacts/$target-" "$out/corpus/$target" 2>"$out/$target.log" || {
        tail -40 "$out/$target.log" >&2
        echo "tls.sh: $target failed; its input is in fuzz-artifacts/ and the log in $out/$target.log" >&2
        exit 1
    }
    grep -E "^Done|stat::(number_of_executed_units|average_exec_per_sec)" "$out/$target.log" | sed "s/^/$target: /"
done
rm -rf "$out"/fuzz-tls-*
