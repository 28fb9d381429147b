#!/usr/bin/env bash
# Holds the tool against real Wi-Fi: hostapd, wpa_supplicant and nl80211 in a virtual machine, as an ordinary user.
# Needs the rig at $WIFI_RIG, by default ../shared/wifi-rig; without it nothing is tested, and that is said.
# usage: test-wifi.sh WIFICTL [SITUATION...]
set -euo pipefail

tool=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
rig=${WIFI_RIG:-../shared/wifi-rig}

skip() { printf 'test-wifi: SKIPPED: %s\n' "$*" >&2; exit 0; }
[ -x "$rig/run-in-wifi.sh" ] || skip "no Wi-Fi rig at $rig (set WIFI_RIG)"
[ -f "${WIFI_RIG_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/wifi-rig}/stamp" ] || skip "the Wi-Fi rig isn't built (run $rig/build-rig.sh)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Symbols would only fill the machine's memory.
strip -o "$work/wifictl" "$tool"

# What runs inside: one reading, or one before and one after a roam.
cat >"$work/look.sh" <<'GUEST'
#!/bin/sh
./wifictl doctor --json --for 0s || [ $? = 1 ]
GUEST
cat >"$work/roam.sh" <<'GUEST'
#!/bin/sh
./wifictl doctor --json --for 0s || [ $? = 1 ]
rig-roam ap2 || exit 1
./wifictl doctor --json --for 0s || [ $? = 1 ]
GUEST
# Two routers on this machine, one with the first access point's radio and one with the second's.
cat >"$work/choose.sh" <<'GUEST'
#!/bin/sh
export WIFICTL_HOME=/tmp/wifictl
tool=$PWD/wifictl
cd /tmp || exit 1
$tool router --mac 00:00:5e:00:53:a1 --bssid 00:00:5e:00:53:01 --tcp 19511 --json >one &
$tool router --mac 00:00:5e:00:53:a2 --bssid 00:00:5e:00:53:02 --tcp 19512 --json >two &
until grep -q listening one && grep -q listening two; do sleep 0.1; done
$tool discover --bssid auto --for 3s --json
rig-roam ap2 || exit 1
$tool discover --bssid auto --for 3s --json
GUEST
# The same two, seen by one watch that lasts over the roam; the choice is waited for, since the roam's end is the kernel's to tell.
cat >"$work/watch.sh" <<'GUEST'
#!/bin/sh
export WIFICTL_HOME=/tmp/wifictl
tool=$PWD/wifictl
cd /tmp || exit 1
$tool router --mac 00:00:5e:00:53:a1 --bssid 00:00:5e:00:53:01 --tcp 19511 --json >one &
$tool router --mac 00:00:5e:00:53:a2 --bssid 00:00:5e:00:53:02 --tcp 19512 --json >two &
until grep -q listening one && grep -q listening two; do sleep 0.1; done
$tool discover --watch --json >seen &
until grep -q '"selected","mac":"00:00:5e:00:53:a1","why":"radio"' seen; do sleep 0.1; done
rig-roam ap2 || exit 1
until grep -q '"selected","mac":"00:00:5e:00:53:a2","why":"radio"' seen; do sleep 0.1; done
grep -e '"type":"link"' -e '"changes":\["grade"\]' seen
GUEST
# A device of another maker, whose MAC is the first access point's BSSID, in a watch of its dialect alone.
cat >"$work/foreign.sh" <<'GUEST'
#!/bin/sh
export WIFICTL_HOME=/tmp/wifictl
tool=$PWD/wifictl device=$PWD/device
cd /tmp || exit 1
$device 00005e005301 &
$tool discover --watch --dialect ubnt --interface lo --to 127.0.0.1 --json >seen &
until grep -q '"grade":"exact".*"change":"found"' seen; do sleep 0.1; done
rig-roam ap2 || exit 1
until grep -q '"changes":\["grade"\]' seen; do sleep 0.1; done
grep -e '"type":"link"' -e '"changes":\["grade"\]' seen
GUEST
chmod +x "$work"/*.sh

# One line an interface: its name, its BSSIDs or the reason for having none.
links() {
    sed -n 's/.*"type":"wifi","interface":"\([^"]*\)".*"bssids":\[\([^]]*\)\].*"source":\([^,]*\),"reason":\([^,}]*\).*/\1 \2 \3 \4/p' |
        tr -d '"' | sort
}
# After the roam: the new link, then each router with the grade that it has now.
regraded() {
    sed -n -e 's/.*"type":"link","bssids":\[\([^]]*\)\].*/link \1/p' \
        -e 's/.*"type":"router","mac":\([^,]*\),.*"grade":\([^,]*\),.*"change":"updated".*/\1 \2/p' | tr -d '"'
}
chosen() { sed -n 's/.*"type":"selected","mac":\([^,]*\),"why":\([^,]*\).*/\1 \2/p' | tr -d '"'; }

failed=0 ran=0
# run NAME SCRIPT FILTER EXPECTED [RIG OPTION...]
run() {
    local name=$1 script=$2 filter=$3 expected=$4 found status=0
    shift 4
    [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
    ran=$((ran + 1))
    "$rig/run-in-wifi.sh" --memory 1024 --timeout 300 --add "$work/wifictl" "$@" "$work/$script" >"$work/out" 2>"$work/err" || status=$?
    found=$("$filter" <"$work/out")
    if [ "$status" = 0 ] && [ "$found" = "$expected" ]; then
        printf 'ok    %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'WRONG %s (status %s)\n  expected: %s\n  found:    %s\n' "$name" "$status" "${expected//$'\n'/ | }" "${found//$'\n'/ | }"
        tail -n 5 "$work/err"
    fi
}
wanted=("$@")

one=00:00:5e:00:53:01 two=00:00:5e:00:53:02 guest=02:00:5e:00:53:01
run associated look.sh links "wlan0 $one scan null"
run open look.sh links "wlan0 $one scan null" --security open
run guest look.sh links "wlan0 $guest scan null" --ap guest
run second look.sh links "wlan0 $two scan null" --ap ap2
run odd-name look.sh links "wlp0s20f3 $one scan null" --ifname wlp0s20f3 --ssid 'Café ☕ 1'
run crowd look.sh links "wlan0 $one scan null" --crowd 40
run two-stations look.sh links "wlan0 $one scan null"$'\n'"wlan1 $two scan null" --stations 2
run roam roam.sh links "wlan0 $one scan null"$'\n'"wlan0 $two scan null"
run disconnected look.sh links "wlan0  null notAssociated" --state disconnected
run down look.sh links "wlan0  null interfaceDown" --state down
run no-wifi look.sh links "" --state no-wifi
run no-nl80211 look.sh links "" --state no-nl80211
if "$tool" discover --help >/dev/null 2>&1 && "$tool" router --help >/dev/null 2>&1; then
    run choose choose.sh chosen "00:00:5e:00:53:a1 radio"$'\n'"00:00:5e:00:53:a2 radio"
    run watch watch.sh regraded "link $two"$'\n'"00:00:5e:00:53:a1 family"$'\n'"00:00:5e:00:53:a2 radio"
    if cc -static -O1 -o "$work/device" Tests/Wifi/device.c 2>"$work/err"; then
        run foreign foreign.sh regraded "link $two"$'\n'"$one family" --add "$work/device"
    else
        printf 'SKIPPED foreign: no C compiler for a static program (%s)\n' "$(head -n 1 "$work/err")"
    fi
else
    printf 'SKIPPED choose and watch: this tool has no discover and router\n'
fi

printf 'test-wifi: %s of %s situations as they should be\n' "$((ran - failed))" "$ran"
[ "$failed" = 0 ]
