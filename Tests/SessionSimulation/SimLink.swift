import FrameCodec
import SocketCore

/// Which end of a link.
enum SimSide: Int {
    case controller = 0
    case router = 1
    var other: SimSide { self == .controller ? .router : .controller }
}

/// One direction of a connection: what the kernels hold of it.
struct SimPipe {
    /// Written and not read yet.
    var bytes: [UInt8] = []
    var isFinished = false
    var finishTold = false
    /// Bytes vanish: the far end is gone and nobody says so.
    var isBlackHole = false
    var stalledUntil: Int64 = 0
    var arrivalDue = false
    /// Faults of a peer's making; such a pipe passes whole frames from first to last.
    var isMeddled = false
    var loseReceipts = 0.0
    var doubleMessages = 0.0
}

/// A connection between a controller and a router.
final class SimLink {
    let controller: SimEndpoint
    let host: SimRouter
    /// The router's end, once the hello has told which.
    var router: SimEndpoint?
    var numbers: [ConnectionNumber?]
    /// Towards the side with that index.
    var pipes = [SimPipe(), SimPipe()]
    /// Whether the side still holds its end open.
    var holds = [true, true]
    var isCut = false
    /// The link breaks once that many bytes have arrived.
    var cutAfter = Int.max
    var arrived = 0
    var greeting: Greeting?
    /// The version of all frames after the hellos; nil before and on a plain link.
    var agreed: UInt16?
    /// What the router speaks, as of the connection.
    let versions: [UInt16]
    let isPlain: Bool
    /// By the side that writes: when it last did, by its own clock, and how many frames.
    var wroteAt = [Int64.min, Int64.min]
    var framesWritten = [0, 0]
    /// Receipts that have reached the side with that index.
    var receiptsRead = [0, 0]
    var controllerDecoder = FrameDecoder()
    var routerDecoder = FrameDecoder()
    /// Reads what is written, for the invariants.
    var controllerWire = FrameDecoder()
    var routerWire = FrameDecoder()

    init(controller: SimEndpoint, number: ConnectionNumber, host: SimRouter) {
        self.controller = controller
        self.host = host
        versions = host.versions
        isPlain = host.isPlain
        numbers = [number, nil]
    }

    /// Whether a fault takes or doubles single frames on their way.
    var isMeddled: Bool { pipes[0].isMeddled || pipes[1].isMeddled }
    func endpoint(_ side: SimSide) -> SimEndpoint? { side == .controller ? controller : router }
}

/// A router's process.
final class SimRouter {
    let index: Int
    var boot = 1
    var isUp = true
    var versions: [UInt16] = [1]
    let isPlain: Bool
    /// New connections: refused, swallowed, accepted and closed at once, or fine.
    enum Door { case open, refuses, swallows, slams }
    var door = Door.open
    var sessions: [SessionIdentifier: SimEndpoint] = [:]
    /// Journals that lie on its disk.
    var disks: [SessionIdentifier: SimDisk] = [:]
    init(index: Int, isPlain: Bool) {
        self.index = index
        self.isPlain = isPlain
    }

    var mac: String { "02:00:5e:00:53:0\(index)" }
    var bootText: String {
        let text = String(boot, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

/// A journal's file: what was written, and how much of that is on the disk.
struct SimDisk {
    var bytes: [UInt8] = []
    var synced = 0
}

/// One end of a session, with its process around it.
final class SimEndpoint {
    let name: String
    let side: SimSide
    let host: SimRouter
    var core: SessionCore
    var link: SimLink?
    var isAlive = true
    var frozenUntil: Int64 = 0
    /// Its clock ahead of the world's.
    var clockOffset: Int64 = 0
    var disk: SimDisk?
    var timerAt = Int64.max
    var takesAfter: ClosedRange<Int64> = 0...0
    var stopsTakingUntil: Int64 = 0
    var waitsForSpace = false
    var dieAt: DeathStage?
    var isPowerCut = false
    /// How often its machine had lost its power when it was started.
    var machineBoot = 0
    /// When it dialled within the last minute.
    var dials: [Int64] = []
    var openedAt = Int64.max
    let versions: [UInt16]
    var isClosing = false

    // What the truth keeps of this end.
    /// Messages by ticket number of the present core.
    var byTicket: [UInt64: Int] = [:]
    /// Messages by id, over restarts from the journal.
    var byId: [UInt32: Int] = [:]
    /// Ids that the application took, over restarts from the journal.
    var takenIds: Set<UInt32> = []
    /// Receipts that it may still write, by id.
    var owed: [UInt32: Int] = [:]
    /// Messages in the application's hands.
    var held: [InboundMessage] = []
    /// Taken since the journal last had it, or had it synced: may come again after a crash.
    var takenUnwritten: [Int] = []
    var takenUnsynced: [Int] = []
    /// Ended since the journal was last synced: may end again after a power cut.
    var endedUnsynced: [Int] = []
    /// Sent in this tick, not yet journalled.
    var fresh: [Int] = []
    /// Counts memories: a message may come once in each.
    var memory: Int
    var lastTaken = -1

    enum DeathStage: CaseIterable { case beforeJournal, midJournal, afterJournal, afterWrite }

    init(name: String, side: SimSide, host: SimRouter, core: consuming SessionCore, memory: Int) {
        self.name = name
        self.side = side
        self.host = host
        versions = core.configuration.versions
        self.core = core
        self.memory = memory
    }
}

/// What really became of a message.
struct SimTruth {
    let sender: String
    let isTracked: Bool
    /// Goes to or comes from a plain device: at most once, come what may.
    let isPlain: Bool
    /// Reported as accepted: from then on it can't be lost.
    var isAccepted = false
    /// Its sender's process died without a journal: nobody waits for its outcome.
    var isOrphan = false
    var outcome: MessageResult?
    var mayEndAgain = false
    var mayBeUnknown = false
    /// Times that an application took it, in all and in the memory named.
    var taken = 0
    var takenInMemory = -1
    /// A crash made its being taken unrecorded.
    var mayComeAgain = false
}
