import SocketCore

/// Asks a router that has to prove itself what it says of itself: a session for the length of a hello. Only what is said over that
/// connection counts; a reply is a datagram that anybody can send.
struct HelloInquiry: Sendable {
    let trust: RouterTrust
    let memory: TrustMemory
    /// How frames are written, and what we are called.
    let session: SessionConfiguration
    let limit: Duration
    let loop: EventLoop

    /// Its hello; or why there's none: it proves nothing, or says nothing in time.
    ///
    /// - Parameters:
    ///   - mac: whom it has to be.
    ///   - endpoint: where it's asked.
    ///   - station: our own Wi-Fi MAC, which it's asked about.
    func ask(_ mac: MACAddress, at endpoint: Endpoint, station: MACAddress? = nil) async -> Result<RouterHello, LossReason> {
        var configuration = session
        configuration.expectedMAC = mac.description
        configuration.station = station?.description
        let tls = trust.configuration(for: mac, record: memory[mac], floor: memory.floor) { _ in }
        let session = Session(to: endpoint, configuration, tls: tls, loop: loop)
        let limit = limit
        let alarm = Task(executorPreference: loop) {
            try await Task.sleep(for: limit)
            await session.close()
        }
        defer { alarm.cancel() }
        await session.start()
        let answer = await HelloInquiry.answer(session)
        await session.close()
        return answer ?? .failure(.noHello(after: limit))
    }

    private static func answer(_ session: Session) async -> Result<RouterHello, LossReason>? {
        for await batch in session.events {
            for case .state(let state) in batch {
                switch state {
                case .open(let opening), .resumed(let opening): return opening.router.map { .success($0) }
                case .closed(.closed): return nil
                case .lost(let reason), .closed(let reason): return .failure(reason)
                case .connecting, .reconnecting, .suspended: break
                }
            }
        }
        return nil
    }
}

extension RouterFamily {
    /// What a hello says.
    public init(_ hello: RouterHello) {
        let children = hello.identity.children.compactMap { MACAddress($0) }.filter(\.isUsableAsDevice)
        self.init(children: Set(children), seesStation: hello.sees?.station, via: hello.sees?.via)
    }
}
