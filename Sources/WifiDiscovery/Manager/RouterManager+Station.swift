import SocketCore

/// What a router said in a session about one station of ours.
struct StationAnswer: Equatable {
    /// The station asked about: another one, as after a change of the Wi-Fi adapter, is another question.
    var station: String
    /// Whether the router, or a child of its, serves it.
    var isSeen: Bool
}

extension RouterManager {
    /// This machine's own Wi-Fi MAC, for routers to say whether they see it; nil where the kernel tells of no association, or the
    /// caller has said himself what the link is.
    nonisolated var station: MACAddress? {
        guard options.discovery.link == .automatic else { return nil }
        return WirelessLink.read().interfaces.first { (try? $0.association.get()) != nil }?.station
    }

    /// Keeps the router's answer to the question in our hello, where it gave one.
    func noteStation(_ opening: SessionOpening, of mac: MACAddress) {
        guard let sees = opening.router?.sees, let asked = options.session.station ?? station?.description else { return }
        stationAnswers[mac] = StationAnswer(station: asked, isSeen: sees.station)
        // As many as a scan can show.
        if stationAnswers.count > DiscoveryBounds.routers { stationAnswers = [mac: StationAnswer(station: asked, isSeen: sees.station)] }
    }

    /// A scan's routers with what they have said in earlier sessions about the present station, and the choice by that.
    func judgedByStation(_ result: ScanResult) -> ScanResult {
        guard !stationAnswers.isEmpty, let now = options.session.station ?? station?.description else { return result }
        var judged = result
        for index in judged.routers.indices {
            guard let answer = stationAnswers[judged.routers[index].mac], answer.station == now else { continue }
            judged.routers[index].evidence.seesStation = answer.isSeen
        }
        judged.selection = Selection.choose(among: judged.routers)
        return judged
    }
}
