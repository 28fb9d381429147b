/// The map: my station, the access point, the LAN, its routers and their children, from left to right.
struct ReportMap {
    /// More nodes than that are no map any more; the table holds all.
    static let mostNodes = 40
    private static let node = (width: 210.0, height: 66.0)
    private static let pitch = 84.0
    private static let columns = (station: 10.0, point: 250.0, bus: 490.0, router: 520.0, child: 760.0)

    let report: LANReport

    /// Routers of their own, the chosen one first, as many as are shown.
    private var parents: [LANReport.Router] {
        let own = report.routers.filter { $0.parent == nil || !macs.contains($0.parent ?? "") }
        return Array((own.filter { $0.mac == report.chosen } + own.filter { $0.mac != report.chosen }).prefix(ReportMap.mostNodes))
    }

    private var macs: Set<String> { Set(report.routers.map(\.mac)) }

    func element() -> String {
        let rows = parents.map { parent in (parent, report.routers.filter { $0.parent == parent.mac }.prefix(ReportMap.mostNodes)) }
        let slots = rows.map { max(1, $0.1.count) }
        let hidden = report.routers.count - rows.reduce(0) { $0 + 1 + $1.1.count }
        let height = max(1, Double(slots.reduce(0, +))) * ReportMap.pitch + (hidden > 0 ? 34 : 0)
        var drawing = Drawing(width: rows.allSatisfy { $0.1.isEmpty } ? 740 : 980, height: height)
        let middle = ReportMap.pitch / 2
        draw(links(rows.map(\.0), slots), middle, height, in: &drawing)
        station((ReportMap.columns.station, middle), (ReportMap.columns.point, middle), in: &drawing)
        var slot = 0
        for (index, (parent, children)) in rows.enumerated() {
            let y = (Double(slot) + 0.5) * ReportMap.pitch
            node(parent, ReportMap.columns.router, y, in: &drawing)
            for (offset, child) in children.enumerated() {
                let childY = (Double(slot + offset) + 0.5) * ReportMap.pitch
                drawing.line(ReportMap.columns.router + ReportMap.node.width, y, ReportMap.columns.child, childY, "lan")
                node(child, ReportMap.columns.child, childY, in: &drawing)
            }
            slot += slots[index]
        }
        if hidden > 0 { drawing.text(ReportMap.columns.router, height - 12, "and \(hidden) more, listed in the table", "small") }
        return drawing.element(id: "map", title: "Map of the network", description: description)
    }

    /// The same from top to bottom, for a screen that is no wider than a telephone.
    func narrowElement() -> String {
        let rows = parents.map { parent in (parent, report.routers.filter { $0.parent == parent.mac }.prefix(ReportMap.mostNodes)) }
        let count = rows.reduce(0) { $0 + 1 + $1.1.count }
        let hidden = report.routers.count - count
        let (left, indent, trunk) = (10.0, 40.0, 24.0)
        var drawing = Drawing(width: 310, height: Double(2 + count) * ReportMap.pitch + (hidden > 0 ? 34 : 0))
        let y = { (slot: Int) in (Double(slot) + 0.5) * ReportMap.pitch }
        drawing.line(trunk, y(0), trunk, y(1), "mine")
        var slot = 2
        for (parent, children) in rows {
            let kind = parent.mac == report.chosen ? (parent.isOnLink ? "mine" : "guess") : "lan"
            drawing.line(trunk, y(1), trunk, y(slot), kind)
            drawing.line(trunk, y(slot), indent, y(slot), kind)
            node(parent, indent, y(slot), in: &drawing)
            for offset in children.indices {
                drawing.line(indent + 14, y(slot), indent + 14, y(slot + 1 + offset - children.startIndex), "lan")
            }
            for (offset, child) in children.enumerated() {
                drawing.line(indent + 14, y(slot + 1 + offset), indent + 40, y(slot + 1 + offset), "lan")
                node(child, indent + 40, y(slot + 1 + offset), in: &drawing)
            }
            slot += 1 + children.count
        }
        // Over the LAN's line, which they share a piece of.
        if let first = rows.first?.0, first.mac == report.chosen {
            drawing.line(trunk, y(1), trunk, y(2), first.isOnLink ? "mine" : "guess")
        }
        station((left, y(0)), (left, y(1)), in: &drawing)
        if hidden > 0 { drawing.text(indent, drawing.height - 12, "and \(hidden) more, listed in the table", "small") }
        return drawing.element(id: "map-narrow", title: "Map of the network", description: description)
    }

    private func links(_ parents: [LANReport.Router], _ slots: [Int]) -> [(router: LANReport.Router, y: Double)] {
        var slot = 0
        return parents.enumerated().map { index, router in
            defer { slot += slots[index] }
            return (router, (Double(slot) + 0.5) * ReportMap.pitch)
        }
    }

    /// The LAN as a line that all routers hang on, and what joins the station to the one that is the one.
    private func draw(
        _ links: [(router: LANReport.Router, y: Double)], _ middle: Double, _ height: Double, in drawing: inout Drawing
    ) {
        let columns = ReportMap.columns
        let right = columns.point + ReportMap.node.width
        drawing.line(columns.bus, middle, columns.bus, max(middle, links.last?.y ?? middle), "lan")
        for link in links { drawing.line(columns.bus, link.y, columns.router, link.y, "lan") }
        drawing.line(columns.station + ReportMap.node.width, middle, columns.point, middle, "mine")
        guard let chosen = links.first(where: { $0.router.mac == report.chosen }) else {
            return drawing.line(right, middle, columns.bus, middle, "lan")
        }
        drawing.line(right, middle, columns.router, chosen.y, chosen.router.isOnLink ? "mine" : "guess")
    }

    /// This machine and its access point, each at the left edge and the middle of its box.
    private func station(_ machine: (x: Double, y: Double), _ point: (x: Double, y: Double), in drawing: inout Drawing) {
        let node = ReportMap.node
        var top = machine.y - node.height / 2
        drawing.box(machine.x, top, node.width, node.height, "station")
        drawing.text(machine.x + 12, top + 21, "This machine", "strong")
        drawing.text(machine.x + 12, top + 40, fit("on " + report.interfaces.joined(separator: ", "), 30), "small")
        top = point.y - node.height / 2
        drawing.box(point.x, top, node.width, node.height, "station")
        drawing.text(point.x + 12, top + 21, "Access point", "strong")
        let address = report.accessPoint.isEmpty ? "not known" : report.accessPoint.prefix(1).joined() + more(report.accessPoint.count - 1)
        drawing.text(point.x + 12, top + 40, fit(address, 30), "small")
        drawing.text(point.x + 12, top + 56, fit(report.link, 34), "small")
    }

    private func more(_ count: Int) -> String { count > 0 ? " and \(count) more" : "" }

    private func node(_ router: LANReport.Router, _ x: Double, _ middle: Double, in drawing: inout Drawing) {
        let node = ReportMap.node
        let top = middle - node.height / 2
        drawing.box(x, top, node.width, node.height, router.tone.rawValue)
        let isChosen = router.mac == report.chosen
        drawing.text(x + 12, top + 21, fit((isChosen ? "★ " : "") + report.title(router.mac), 24), "strong")
        if !router.name.isEmpty { drawing.text(x + 12, top + 39, router.mac, "small") }
        drawing.text(x + 12, top + 56, "\(router.tone.mark) \(fit(router.verdict, 26))", router.tone.rawValue)
    }

    private func fit(_ text: String, _ width: Int) -> String { DisplayWidth.fit(text, to: width) }

    /// The map in words.
    private var description: String {
        let point =
            report.accessPoint.isEmpty
            ? "an access point that isn't known" : "the access point \(report.accessPoint.joined(separator: ", "))"
        let routers = parents.map { router in
            let children = report.routers.filter { $0.parent == router.mac }.map { report.title($0.mac) }
            return
                "\(report.title(router.mac)): \(router.verdict)\(children.isEmpty ? "" : ", with its children \(children.joined(separator: ", "))")"
        }
        return "This machine is connected through \(point) to a network with \(report.countText). \(report.sentence) "
            + routers.joined(separator: "; ") + "."
    }
}
