#!/usr/bin/env bash
# libFuzzer with the address sanitizer over every parser of strangers' bytes.
#
#   Tests/Fuzz/run.sh 60s [TARGET...]
#
# The time is shared out evenly among the targets (decoder json hello discovery mac). What crashes is left in
# fuzz-artifacts/; move it to Fixtures/fuzz/TARGET/ once it is mended, where the regression test reads it in every run.
# What is found on the way to new code is gathered in .build/libfuzzer/corpus, beside the small corpus in Fixtures/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."

total=${1:-60s}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(decoder json hello discovery mac)
case $total in
    *ms) echo "run.sh: $total is too short; say 10s, 5m or 1h" >&2; exit 64 ;;
    *s) seconds=${total%s} ;;
    *m) seconds=$((${total%m} * 60)) ;;
    *h) seconds=$((${total%h} * 3600)) ;;
    *) seconds=$total ;;
esac
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

swiftc=${SWIFTC:-$(command -v swiftc || echo /opt/swift/usr/bin/swiftc)}
out=.build/libfuzzer
mkdir -p "$out" fuzz-artifacts
# SwiftPM can't link an executable with these flags, so that the modules are compiled here, cores only.
flags=(-O -g -sanitize=fuzzer,address -parse-as-library -swift-version 6 -enable-experimental-feature Lifetimes -package-name wifi-discovery
    -I "$out")

# Compiles the module $1 from the remaining arguments unless it is newer than they are.
module() {
    local name=$1 object="$out/$1.o"
    shift
    if [ ! -e "$object" ] || [ -n "$(find "$@" -newer "$object" -name '*.swift' -print -quit)" ]; then
        echo "compiling $name" >&2
        find "$@" -name '*.swift' -print0 | sort -z | xargs -0 "$swiftc" "${flags[@]}" -wmo -module-name "$name" -emit-module \
            -emit-module-path "$out/$name.swiftmodule" -c -o "$object"
    fi
}
module FrameCodec Sources/FrameCodec
module SocketCore Sources/SocketCore/Core
module WifiDiscovery Sources/WifiDiscovery/Core/Messages Sources/WifiDiscovery/Core/Addresses

fuzz=Sources/wifictl/Fuzz
for target in "${targets[@]}"; do
    sed "s/@NAME@/$target/" Tests/Fuzz/Target.swift.in >"$out/$target.swift"
    "$swiftc" "${flags[@]}" -wmo -emit-executable -module-name "Fuzz_$target" -emit-module-path "$out/Fuzz_$target.swiftmodule" "$out/$target.swift" \
        "$fuzz"/{ParserProperties,ReferenceDecoder,DecoderUnderTest,FuzzCase,CaseJudge,DecoderRun,DecoderRun+Checks,FrameFollower}.swift \
        "$out"/{FrameCodec,SocketCore,WifiDiscovery}.o -o "$out/fuzz-$target" 2> >(grep -v "Cannot export local symbol" >&2)
    mkdir -p "$out/corpus/$target"
    echo "fuzzing $target for $each s" >&2
    # The runtime's own crash reports would get between the sanitizer and its own.
    SWIFT_BACKTRACE=enable=no "$out/fuzz-$target" -max_total_time="$each" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="fuzz-artifacts/$target-" "$out/corpus/$target" "Fixtures/fuzz/$target" 2>"$out/$target.log" || {
        tail -40 "$out/$target.log" >&2
        echo "run.sh: $target failed; its input is in fuzz-artifacts/ and the log in $out/$target.log" >&2
        exit 1
    }
    grep -E "^Done|stat::(number_of_executed_units|average_exec_per_sec)" "$out/$target.log" | sed "s/^/$target: /"
done
