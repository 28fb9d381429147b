import SocketCore

/// This machine's Wi-Fi link, from the kernel; no privileges needed.
public enum WirelessLink {
    /// How long ``settled()`` waits for an association at most: a roam leaves the station without one for some tenths of a second.
    public static let settlingTime: Duration = .milliseconds(400)
    private static let retry: Duration = .milliseconds(100)

    /// Asks until there is an association, the reason for having none is one that doesn't pass by itself, or
    /// ``settlingTime`` is over.
    public static func settled() async -> WirelessReport {
        let end = SystemCalls.monotonicNow() + settlingTime
        while true {
            let report = read()
            guard report.unknown?.mayPass == true, SystemCalls.monotonicNow() + retry < end, !Task.isCancelled else { return report }
            // Cancelled: the reading at hand is the answer.
            try? await Task.sleep(for: retry)
        }
    }
}
