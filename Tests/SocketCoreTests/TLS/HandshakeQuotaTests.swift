import Testing

@testable import SocketCore

struct HandshakeQuotaTests {
    @Test func `one source has sixteen under way and no more, until one is done`() throws {
        var quota = HandshakeQuota<Int>()
        var tickets: [HandshakeQuota<Int>.Ticket] = []
        for _ in 0..<16 {
            guard case .admitted(let ticket, displacing: nil) = quota.admit(1) else {
                Issue.record("refused too early")
                return
            }
            tickets.append(ticket)
        }
        let answers = [quota.admit(1), quota.admit(1)]
        #expect(answers == [.refused, .refused] && quota.refusedCount == 2)
        quota.finish(tickets[3])
        quota.finish(tickets[3])
        let again = quota.admit(1)
        #expect(again != .refused && quota.count == 16)
    }

    @Test func `a flood from few sources displaces itself, not the honest`() {
        var quota = HandshakeQuota<Int>()
        guard case .admitted(let honest, _) = quota.admit(-1) else {
            Issue.record("refused")
            return
        }
        for number in 0..<10_000 {
            if case .admitted(_, let displaced) = quota.admit(number % 40) { #expect(displaced != honest) }
            #expect(quota.count <= HandshakeQuota<Int>.total)
        }
        let late = quota.admit(-2)
        #expect(late != .refused)
    }

    @Test func `a flood from many sources needs as many connections as there are places to displace one`() {
        var quota = HandshakeQuota<Int>()
        for number in 0..<1_000 { _ = quota.admit(number) }
        guard case .admitted(let honest, _) = quota.admit(-1) else {
            Issue.record("refused")
            return
        }
        for number in 2_000..<(2_000 + HandshakeQuota<Int>.total - 1) {
            if case .admitted(_, let displaced) = quota.admit(number) { #expect(displaced != honest) }
        }
        #expect(quota.count == HandshakeQuota<Int>.total)
    }
}
