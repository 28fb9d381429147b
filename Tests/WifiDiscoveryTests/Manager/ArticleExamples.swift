import Foundation
import SocketCore
import TestSupport
import Testing
import WifiDiscovery

// The code of the documentation's articles, compiled: a test below holds that each of its lines stands here in the same order.

private func discover() async throws {
    let discovery = try RouterDiscovery()
    for try await router in discovery.routers(for: .seconds(3)) { print(router.name, router.mac, router.grade) }

    let result = try await discovery.scan(for: .seconds(3))
    switch result.selection.mac {
    case let mac?: print("connected to \(mac): \(result.selection.why), \(result.selection.certainty)")
    case nil: print("\(result.routers.count) routers, and nothing tells which is meant: \(result.selection.why)")
    }

    for try await event in discovery.events(for: nil) {
        if case .lost(let router, let loss) = event { print(router.name, "is gone:", loss) }
    }
}

private func verify(_ result: ScanResult) async throws {
    let trust = try RouterTrust.company(root: "company-root.pem")
    let verifier = RouterVerifier(trust)
    for finding in await verifier.verify(result.routers.map(RouterVerifier.Subject.init)) {
        print(finding.subject.mac, finding.judgement.verdict.name, finding.judgement.detail)
    }

    var options = RouterManager.Options()
    options.trust = trust
    let manager = RouterManager(options)
    await manager.close()
}

private func send(_ manager: RouterManager) async throws {
    let router = try await manager.connect()
    print(try await router.get("wifi.ssid"))
    let applied = try await router.set([.init("wifi.ssid", "Attic")])
    print(applied.map(\.name))
    for await change in router.changes(of: "clients") { print(change.values) }

    let outcome = try await router.session.send(Array("lamp on".utf8))
    print(outcome.result, outcome.sends, outcome.elapsed)
}

private func move(_ manager: RouterManager) async throws {
    do {
        try await manager.switch(to: "02:00:5e:00:53:02")
    } catch let error as SwitchError {
        print(error, "still with the old router:", error.keepsOld)
    }
}

private func fuzz() async throws {
    let responder = RouterResponder()
    try await responder.open()
    var options = SimulatedRouter.Options(
        RouterDescription(mac: MACAddress("02:00:5e:00:53:01")!, name: "Attic"), listen: Endpoint(.loopback, port: 0))
    options.linkFaults.lostReceipts = 0.2
    options.replyFaults.loss = 0.2
    options.closeAfter = 50
    let router = SimulatedRouter(options, responder: responder)
    try await router.start()
}

struct ArticleExamples {
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test(arguments: ["Discover", "Verify", "Send", "Switch", "Fuzz"])
    func `the code of an article is what compiles here`(article: String) throws {
        let blocks = try DocumentBlock.all(in: "Sources/WifiDiscovery/WifiDiscovery.docc/\(article).md").filter { $0.kind == "swift" }
        #expect(!blocks.isEmpty)
        let compiled = Self.lines(
            try String(contentsOfFile: Repository.path("Tests/WifiDiscoveryTests/Manager/ArticleExamples.swift"), encoding: .utf8))
        for block in blocks {
            let shown = Self.lines(block.text)
            let stands = compiled.indices.contains { compiled[$0...].starts(with: shown) }
            #expect(stands, "\(block.text)")
        }
    }
}
