import Foundation
import TestSupport

/// Other people's programs that ask in foreign dialects, as Debian packages them: what they see is what there is.
enum ForeignClients {
    /// What a client printed, and what can be read out of it.
    struct Seen {
        var addresses: Set<String> = []
        var macs: Set<String> = []
        var names: Set<String> = []
        let text: String
    }

    /// gssdp-discover (gupnp-tools): the hosts of the gateways' descriptions.
    static func ssdp(_ lan: TestLAN, _ host: String) async throws -> Seen {
        let target = "urn:schemas-upnp-org:device:InternetGatewayDevice:1"
        let result = try await lan.run(host, ["gssdp-discover", "-i", "eth0", "-t", target, "-n", "4"])
        var seen = Seen(text: result.text + result.errorText)
        for line in result.lines where line.contains("Location:") {
            if let address = line.split(separator: "/").dropFirst().first?.split(separator: ":").first {
                seen.addresses.insert(String(address))
            }
        }
        return seen
    }

    /// avahi-browse (avahi-utils), which asks an avahi-daemon of the host's own over a message bus of its own.
    static func mdns(_ lan: TestLAN, _ host: String) async throws -> Seen {
        let script = """
            mount -t tmpfs none /run; mkdir -p /run/avahi-daemon
            export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/bus
            dbus-daemon --config-file=/usr/share/dbus-1/session.conf --address=$DBUS_SYSTEM_BUS_ADDRESS --nofork --nopidfile >&2 & bus=$!
            while [ ! -S /run/bus ]; do sleep 0.05; done
            printf '[server]\\nhost-name=browser\\nallow-interfaces=eth0\\nenable-dbus=yes\\n' >/run/avahi.conf
            avahi-daemon --no-drop-root --no-chroot -f /run/avahi.conf >&2 & daemon=$!
            until avahi-browse -a -t >/dev/null 2>&1; do sleep 0.1; done
            avahi-browse --all --resolve --parsable --terminate --ignore-local
            kill $bus $daemon
            """
        let result = try await lan.run(host, ["unshare", "--mount", "sh", "-c", script])
        var seen = Seen(text: result.text + result.errorText)
        for line in result.lines where line.hasPrefix("=") {
            // =;interface;protocol;name;type;domain;host;address;port;text
            let fields = line.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            guard fields.count > 7 else { continue }
            seen.addresses.insert(fields[7])
            seen.names.insert(String(fields[6].prefix { $0 != "." }))
        }
        return seen
    }

    /// mndp (mactelnet-client); it goes on until it's stopped.
    static func mndp(_ lan: TestLAN, _ host: String) async throws -> Seen {
        let result = try await lan.run(host, ["timeout", "-s", "INT", "6", "stdbuf", "-oL", "mndp"])
        var seen = Seen(text: result.text + result.errorText)
        for line in result.lines {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let index = words.firstIndex(where: { $0.count(where: { $0 == ":" }) == 5 }) else { continue }
            // Each octet may lack its leading zero.
            let octets = words[index].split(separator: ":").compactMap { UInt8($0, radix: 16) }
            seen.macs.insert(octets.map { String(format: "%02x", $0) }.joined(separator: ":"))
            if index + 1 < words.count { seen.names.insert(String(words[index + 1])) }
        }
        return seen
    }
}
