import Glibc
import Synchronization

/// Ports for tests, each given out once: tests run side by side in one process, and a port that merely was free a moment ago may be
/// another test's by now.
public enum FreePort {
    /// Below those that the kernel gives to whoever asks for any (32,768 and up): a probe's socket must not sit on a router's port.
    private static let range = 10_000..<32_000
    /// Routers of one test listen at ports that follow each other.
    private static let step = 16
    /// Where the next search begins; by chance, since other runs of the tests may go on beside this one.
    private static let start = Mutex(Int.random(in: range))

    /// A UDP and TCP port of loopback that nobody has, and that no other caller in this process gets before thousands more were given.
    ///
    /// - Throws: ``CommandError/start(command:reason:)`` when all are taken.
    public static func next() throws -> Int {
        for _ in range {
            let port = start.withLock { next in
                defer { next = next + step < range.upperBound ? next + step : range.lowerBound + next % step }
                return next
            }
            if isFree(port, SOCK_STREAM), isFree(port, SOCK_DGRAM) { return port }
        }
        throw CommandError.start(command: "test", reason: "no free port in \(range)")
    }

    private static func isFree(_ port: Int, _ type: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // Any address: a port that somebody has on another one would be shared by multicast.
        address.sin_addr.s_addr = 0
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
