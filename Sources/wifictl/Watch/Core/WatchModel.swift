import SocketCore

/// All that the live screen shows, and what its keys do to it. What happened comes in; what is to be done comes out.
struct WatchModel: Sendable {
    /// Lines of news that are kept: more than any screen has.
    static let mostNews = 200
    /// More than a device has; a router can't make it grow.
    static let mostProperties = 256

    struct Row: Equatable, Sendable {
        var router: WatchRouter
        var trips = RoundTripHistory()
        var signals = SignalHistory()
        var verdict: WatchVerdict?
        var isBeingVerified = false
        /// Why it's gone; nil while it's there.
        var lost: String?
        fileprivate var name: NaturalOrder

        fileprivate init(_ router: WatchRouter) {
            self.router = router
            name = NaturalOrder(router.title)
        }
    }

    struct News: Equatable, Sendable {
        let at: Duration
        let text: String
        let paint: Paint?
    }

    let started: Instant
    /// Where it looks, for the first line.
    let place: String
    private(set) var rows: [Row] = []
    private var isOrdered = true
    private(set) var link = ""
    private(set) var signal: Double?
    private(set) var chosen: String?
    private(set) var sentence = ""
    private(set) var session: WatchSession?
    private(set) var counters = WatchSession.Counters()
    private(set) var properties: [(name: String, value: String)] = []
    private(set) var changes = 0
    private(set) var news: [News] = []
    private(set) var cursor: String?
    private(set) var showsDetails = false
    private(set) var showsHelp = false

    init(started: Instant, place: String) { (self.started, self.place) = (started, place) }

    /// The row under the cursor.
    var selected: Row? { rows.first { $0.router.id == cursor } }

    /// Routers that are there, the first of them in the table's order: whose round trips are worth measuring.
    func present(_ most: Int) -> [String] { rows.lazy.filter { $0.lost == nil }.prefix(most).map(\.router.id) }

    mutating func take(_ input: WatchInput, now: Instant) -> WatchAction? {
        switch input {
        case .router(let router, let change): note(router, change, now)
        case .lost(let id, let why): lose(id, why, now)
        case .link(let text):
            if !link.isEmpty, link != text { say("Wi-Fi: \(text)", .cyan, now) }
            link = text
        case .signal(let value): signal = value
        case .selection(let id, let words):
            if id != chosen { say(words, .cyan, now) }
            (chosen, sentence) = (id, words)
        case .routerSignal(let id, let sample): change(id) { $0.signals.add(sample) }
        case .roundTrip(let id, let sample): change(id) { $0.trips.add(sample) }
        case .verdict(let id, let verdict):
            let before = rows.first { $0.router.id == id }
            change(id) { row in (row.verdict, row.isBeingVerified) = (verdict, false) }
            if before?.verdict != verdict {
                say("\(title(id)): \(verdict.word): \(verdict.detail)", verdict.paint, now)
            } else if before?.isBeingVerified == true {
                // Somebody has asked by a key, and waits for an answer.
                say("\(title(id)): still \(verdict.word): \(verdict.detail)", verdict.paint, now)
            }
        case .session(let new): note(new, now)
        case .counters(let new): counters = new
        case .changed(let values): note(values, now)
        case .remark(let text, let paint): say(text, paint, now)
        case .key(let key): return press(key)
        }
        return nil
    }

    // MARK: News

    private mutating func note(_ router: WatchRouter, _ words: String?, _ now: Instant) {
        let before = rows.first { $0.router.id == router.id }
        if let before {
            change(router.id) { row in
                (row.router, row.lost) = (router, nil)
                if before.router.title != router.title { row.name = NaturalOrder(router.title) }
            }
            if before.lost != nil { say("\(router.title) is back", .green, now) }
        } else {
            rows.append(Row(router))
            say("\(router.title) found at \(router.address): \(router.grade)", .green, now)
        }
        if let words { say("\(router.title): \(words)", .yellow, now) }
        isOrdered = false
    }

    /// Puts the rows into the order in which they're shown; before drawing, not at each news: there may be thousands.
    mutating func arrange() {
        if !isOrdered { rows.sort { WatchModel.order($0) < WatchModel.order($1) } }
        isOrdered = true
        if cursor == nil { cursor = rows.first?.router.id }
    }

    private static func order(_ row: Row) -> (Int, Int, NaturalOrder, String) {
        (row.lost == nil ? 0 : 1, row.router.rank, row.name, row.router.id)
    }

    private mutating func lose(_ id: String, _ why: String, _ now: Instant) {
        guard rows.contains(where: { $0.router.id == id }) else { return }
        say("\(title(id)) is gone: \(why)", .red, now)
        change(id) { $0.lost = why }
        isOrdered = false
    }

    private mutating func note(_ new: WatchSession?, _ now: Instant) {
        if session?.router != new?.router { (properties, counters) = ([], WatchSession.Counters()) }
        session = new
        guard let new else { return }
        say("session with \(title(new.router)): \(new.remark)", new.paint, now)
    }

    private mutating func note(_ values: [(name: String, value: String)], _ now: Instant) {
        changes += 1
        for value in values {
            if let index = properties.firstIndex(where: { $0.name == value.name }) {
                guard properties[index].value != value.value else { continue }
                properties[index].value = value.value
                say("\(value.name) = \(value.value)", nil, now)
            } else if properties.count < WatchModel.mostProperties {
                properties.append(value)
            }
        }
    }

    private mutating func say(_ text: String, _ paint: Paint?, _ now: Instant) {
        news.append(News(at: now - started, text: text, paint: paint))
        if news.count > WatchModel.mostNews { news.removeFirst() }
    }

    private mutating func change(_ id: String, _ body: (inout Row) -> Void) {
        guard let index = rows.firstIndex(where: { $0.router.id == id }) else { return }
        body(&rows[index])
    }

    /// What people call a router.
    func title(_ id: String) -> String { rows.first { $0.router.id == id }?.router.title ?? id }

    // MARK: Keys

    private mutating func press(_ key: WatchKey) -> WatchAction? {
        arrange()
        switch key {
        case .up: step(-1)
        case .down: step(1)
        case .first: cursor = rows.first?.router.id
        case .last: cursor = rows.last?.router.id
        case .details: showsDetails.toggle()
        case .help: showsHelp.toggle()
        case .move:
            guard let row = selected, row.lost == nil else { return nil }
            return .move(id: row.router.id)
        case .verify: return selected.map { verify([$0.router.id]) }
        case .verifyAll: return verify(rows.filter { $0.lost == nil }.map(\.router.id))
        case .back:
            guard showsHelp || showsDetails else { return .quit }
            if showsHelp { showsHelp = false } else { showsDetails = false }
        case .quit: return .quit
        case .suspend: return .suspend
        case .repaint: return .repaint
        }
        return nil
    }

    private mutating func verify(_ ids: [String]) -> WatchAction {
        for id in ids { change(id) { $0.isBeingVerified = true } }
        return .verify(ids: ids)
    }

    private mutating func step(_ offset: Int) {
        guard !rows.isEmpty else { return }
        let index = rows.firstIndex { $0.router.id == cursor } ?? 0
        cursor = rows[min(max(index + offset, 0), rows.count - 1)].router.id
    }
}
