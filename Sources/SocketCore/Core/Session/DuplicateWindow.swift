/// What one side remembers of the other side's message ids (protocol.md, section 2).
///
/// Two things: `top`, up to which the application took everything that will come, which costs four bytes however long the
/// session lasts; and for the last 1,024 ids one bit each for "came in" and "taken". Its size never changes. It's not
/// forgotten by time while the session lives, since the sender may come back with an old id after any absence.
///
/// Senders pass over ids (a message called off) and begin with any: such a gap holds `top` back as long as the window shows it, and no
/// longer, since senders never run more than 1,024 ids ahead of their oldest unsettled one.
struct DuplicateWindow: Equatable {
    /// Ids remembered above `top`.
    static let span: UInt32 = 1024

    enum Verdict: Equatable {
        /// Never seen: deliver.
        case new
        /// Delivered and not yet taken by the application: neither deliver nor receipt.
        case pending
        /// Taken: receipt again, don't deliver.
        case known
    }

    /// The highest id up to which everything was taken or won't come; 0 while that is none.
    private(set) var top: UInt32 = 0
    /// The latest id that came in, in serial order; meaningless before the first.
    private var latest: UInt32 = 0
    private var isEmpty = true
    private var seen = Bits()
    private var taken = Bits()

    init() {}

    /// Restores what was written down: see ``takenAboveTop``.
    init(top: UInt32, above: [UInt32]) {
        self.top = top
        latest = top
        isEmpty = top == 0
        for id in above {
            insert(id)
            take(id)
        }
    }

    func verdict(_ id: UInt32) -> Verdict {
        if top != 0, MessageID.isNotAfter(id, top) { return .known }
        guard !isEmpty else { return .new }
        let age = latest &- id
        guard age < DuplicateWindow.span, seen[id] else { return .new }
        return taken[id] ? .known : .pending
    }

    /// Notes that a new id came in.
    mutating func insert(_ id: UInt32) {
        if isEmpty {
            isEmpty = false
            latest = id
            seen[id] = true
            return
        }
        let ahead = id &- latest
        guard Int32(bitPattern: ahead) > 0 else {
            if latest &- id < DuplicateWindow.span { seen[id] = true }
            return
        }
        if ahead >= DuplicateWindow.span {
            seen = Bits()
            taken = Bits()
        } else {
            var skipped = latest
            while skipped != id {
                skipped &+= 1
                seen[skipped] = false
                taken[skipped] = false
            }
        }
        latest = id
        seen[id] = true
    }

    /// Notes that the application took it.
    mutating func take(_ id: UInt32) {
        guard !isEmpty, latest &- id < DuplicateWindow.span else { return }
        taken[id] = true
        passGap(before: id)
        var candidate = MessageID.next(after: top)
        while latest &- candidate < DuplicateWindow.span, taken[candidate], seen[candidate], top != latest {
            top = candidate
            candidate = MessageID.next(after: top)
        }
    }

    /// The application takes in the order of arrival: of what is a window behind an id that it took nothing is in its hands or on its way.
    private mutating func passGap(before id: UInt32) {
        let floor = id &- DuplicateWindow.span
        if top == 0 ? id > DuplicateWindow.span : Int32(bitPattern: floor &- top) > 0 { top = floor == 0 ? .max : floor }
    }

    /// The ids above `top` that were taken, oldest first: with `top` all that must outlive the process.
    var takenAboveTop: [UInt32] {
        guard !isEmpty else { return [] }
        var ids: [UInt32] = []
        for age in (0..<DuplicateWindow.span).reversed() {
            let id = latest &- age
            if id != 0, taken[id], top == 0 || !MessageID.isNotAfter(id, top) { ids.append(id) }
        }
        return ids
    }

    /// 1,024 bits, addressed by the low ten bits of an id.
    private struct Bits: Equatable {
        private var words = InlineArray<16, UInt64>(repeating: 0)

        subscript(id: UInt32) -> Bool {
            get { words[Int(id >> 6 & 15)] >> UInt64(id & 63) & 1 != 0 }
            set {
                let mask = 1 << UInt64(id & 63) as UInt64
                if newValue { words[Int(id >> 6 & 15)] |= mask } else { words[Int(id >> 6 & 15)] &= ~mask }
            }
        }

        static func == (left: Bits, right: Bits) -> Bool {
            for index in 0..<16 where left.words[index] != right.words[index] { return false }
            return true
        }
    }
}
