import SocketCore

/// Asks routers that have proven themselves which access points hang behind them: a session for the length of a hello. Only what is said
/// over that connection counts; a reply is a datagram that anybody can send.
struct FamilyInquiry: Sendable {
    let trust: RouterTrust
    let memory: TrustMemory
    let limit: Duration
    let loop: EventLoop

    /// What it says; nil when it proves nothing now, or says nothing in time.
    func ask(_ subject: RouterVerifier.Subject, at endpoint: Endpoint) async -> RouterFamily? {
        var configuration = SessionConfiguration(role: .controller)
        configuration.expectedMAC = subject.mac.description
        configuration.station = subject.station?.description
        let tls = trust.configuration(for: subject.mac, record: memory[subject.mac], floor: memory.floor) { _ in }
        let session = Session(to: endpoint, configuration, tls: tls, loop: loop)
        let limit = limit
        let alarm = Task(executorPreference: loop) {
            try await Task.sleep(for: limit)
            await session.close()
        }
        defer { alarm.cancel() }
        await session.start()
        let family = await FamilyInquiry.answer(session)
        await session.close()
        return family
    }

    private static func answer(_ session: Session) async -> RouterFamily? {
        for await batch in session.events {
            for case .state(let state) in batch {
                switch state {
                case .open(let opening), .resumed(let opening): return opening.router.map(RouterFamily.init)
                case .lost, .closed: return nil
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
