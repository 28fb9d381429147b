#!/usr/bin/env bash
# Builds FrameCodec and a device's use of it (Tests/Firmware) as Embedded Swift for bare metal, and prints the code sizes.
#   alone   the whole module, every layout and face, used or not
#   linked  what stays of codec and example after the linker has dropped what the example doesn't call; memory functions,
#           allocator and compiler runtime are the firmware's own and not counted
set -euo pipefail
cd "$(dirname "$0")/.."

swiftc=$(command -v swiftc || echo /opt/swift/usr/bin/swiftc)
# The toolchain's own tools beside the compiler, so that nothing else need be installed.
tools=$(dirname "$(readlink -f "$swiftc")")
out=.build/embedded
mkdir -p "$out"

flags=(-enable-experimental-feature Embedded -enable-experimental-feature Lifetimes -swift-version 6 -warnings-as-errors
    -wmo -parse-as-library -Osize -Xfrontend -function-sections)
entries=(device_link_size device_link_open device_link_received device_link_close)

# The bytes of sections with machine code, and with constants and variables.
sizes() {
    "$tools/llvm-objdump" -h "$1" | awk '
        function number(hex,   i, n) { for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
        $2 ~ /^\.text/ { code += number($3) }
        $2 ~ /^\.(rodata|data|bss|sdata|sbss|srodata)/ { data += number($3) }
        END { printf "%7d %7d", code, data }'
}

build() {
    "$swiftc" "${flags[@]}" -target "$1" -module-name FrameCodec -emit-module -emit-module-path "$out/FrameCodec.swiftmodule" \
        -c Sources/FrameCodec/*.swift -o "$out/FrameCodec-$1.o"
    "$swiftc" "${flags[@]}" -enable-experimental-feature Extern -target "$1" -module-name DeviceLink -I "$out" \
        -c Tests/Firmware/DeviceLink.swift -o "$out/DeviceLink-$1.o"
}

printf '%-26s %15s %15s\n%-26s %7s %7s %7s %7s\n' "" "alone" "linked" "target" code data code data
for target in armv7em-none-none-eabi riscv32-none-none-eabi aarch64-none-none-elf; do
    build "$target"
    "$tools/ld.lld" --gc-sections --unresolved-symbols=ignore-all -e device_link_received "${entries[@]/#/--undefined=}" \
        "$out/DeviceLink-$target.o" "$out/FrameCodec-$target.o" -o "$out/DeviceLink-$target.elf"
    printf '%-26s %s %s\n' "$target" "$(sizes "$out/FrameCodec-$target.o")" "$(sizes "$out/DeviceLink-$target.elf")"
done

# The same code on a 32-bit machine that can be run here, where the kernel still takes such programs: lengths that only 32 bits get wrong.
if [ "$(uname -sm)" = "Linux x86_64" ]; then
    target=i686-unknown-none-elf
    build "$target"
    "$tools/clang" --target=i386-unknown-linux -O1 -ffreestanding -fno-stack-protector -fno-pic -Wall -Wextra -Werror \
        -c Tests/Firmware/check.c -o "$out/check.o"
    "$tools/ld.lld" -m elf_i386 --gc-sections -static -e _start "$out/check.o" "$out/DeviceLink-$target.o" "$out/FrameCodec-$target.o" \
        -o "$out/check"
    status=0
    "$out/check" || status=$?
    case $status in
    0) echo "checked on 32 bits: the example answers right" ;;
    126) echo "not checked on 32 bits: this kernel doesn't run such programs" ;;
    *)
        echo "the example answers wrong on 32 bits: status $status is the line in Tests/Firmware/check.c (128 and more: it crashed)" >&2
        exit 1
        ;;
    esac
fi
