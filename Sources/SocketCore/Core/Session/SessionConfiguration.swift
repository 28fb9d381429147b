import FrameCodec

/// What a session is to do; both ends use the same type.
public struct SessionConfiguration: Sendable {
    /// Which end of the session this is.
    public enum Role: Sendable, Equatable {
        /// Dials, says hello first, dials again after a loss.
        case controller
        /// Is dialled; waits for the controller after a loss.
        case router
    }

    /// What becomes of messages that were written and not receipted when the router has lost the session's memory
    /// (protocol.md, section 3).
    public enum MemoryLoss: Sendable, Equatable {
        /// They go again, with their ids: nothing is lost, something may be done twice.
        case resend
        /// They end as ``MessageResult/unknown``: nothing is done twice.
        case reportUnknown
    }

    /// Which end this is.
    public var role: Role
    /// The device speaks bare frames: no hello, no receipts, no heartbeats; ids aren't checked, nothing is resent.
    public var isPlain = false
    /// The protocol versions spoken, ascending.
    public var versions: [UInt16] = [1]
    /// How headers are written.
    public var layout = FrameLayout.standard
    /// The largest body to send, in bytes.
    public var maximumBodyLength = FrameLimits.defaultMaximumBodyLength
    /// Messages that may be unsettled at a time.
    public var window = SessionLimits.window
    /// Messages kept in all, unsettled ones counted.
    public var outboxMessages = SessionLimits.outboxMessages
    /// Bytes of messages kept in all, 64 a message counted on top of its body.
    public var outboxBytes = SessionLimits.outboxBytes
    /// All spans of time.
    public var timing = SessionTiming()
    /// See ``MemoryLoss``.
    public var memoryLoss = MemoryLoss.resend
    /// Controller: the name in its hello, which routers write into their logs.
    public var client = "wifi-discovery"
    /// Controller: its own Wi-Fi MAC, asked about in the hello.
    public var station: String?
    /// Controller: the router's MAC; a hello that names another one ends the connection before a message leaves.
    /// When nil, the first hello's counts from then on.
    public var expectedMAC: String?
    /// Router: who it says it is.
    public var identity = RouterIdentity(boot: "0000000000000000", mac: "00:00:00:00:00:00")
    /// Router: the stations that it sees, with the radio, child access point or port behind which each sits; all in lower-case colon
    /// form. A hello that asks for one is answered by it; with none at all the question is left open.
    public var stations: [String: String] = [:]
    /// Whether records for an ``OutboxJournal`` are made.
    public var keepsJournal = false
    /// The machine's boot, for the header of a journal whose writer doesn't wait for the disk; see ``JournalHeader/machineBoot``.
    public var journalBoot: String?

    /// A configuration with the protocol's defaults.
    public init(role: Role) { self.role = role }
}

/// What a router says about itself in its hello.
public struct RouterIdentity: Equatable, Sendable {
    /// 16 hex digits, other ones after each boot.
    public var boot: String
    /// The MAC in lower-case colon form.
    public var mac: String
    /// A name for people.
    public var name: String?
    /// The model.
    public var model: String?
    /// The firmware's version.
    public var firmware: String?
    /// The MACs of the access points that hang behind it, at most ``SessionLimits/children``.
    public var children: [String] = []

    /// An identity.
    public init(
        boot: String, mac: String, name: String? = nil, model: String? = nil, firmware: String? = nil, children: [String] = []
    ) {
        self.boot = boot
        self.mac = mac
        self.name = name
        self.model = model
        self.firmware = firmware
        self.children = Array(children.prefix(SessionLimits.children))
    }
}

/// The spans of a session (protocol.md, sections 2 and 3).
public struct SessionTiming: Sendable, Equatable {
    /// A connection must stand within this, TLS included.
    public var connect = Duration.seconds(10)
    /// Before that, on each dial but the first: looking for the peer anew, where there is somebody who does. A scan or two, and a minute of
    /// asking those who answer for proof.
    public var look = Duration.seconds(75)
    /// The first frame must be a hello within this.
    public var hello = Duration.seconds(5)
    /// A heartbeat goes after this long without sending.
    public var heartbeat = Duration.seconds(15)
    /// A connection without a received byte for this long is dead: two heartbeats.
    public var silence = Duration.seconds(30)
    /// Waiting for receipts.
    public var resend = ResendSchedule()
    /// Dialling again.
    public var reconnect = ReconnectSchedule()
    /// From the close until the connection is given up, whatever is left.
    public var drain = Duration.seconds(5)
    /// The part of ``drain`` in which receipts are waited for with the connection whole; then the sending half is shut.
    public var linger = Duration.milliseconds(2_500)
    /// Giving the connection up to go to the background takes no longer: platforms grant a few seconds before they stop a process.
    public var farewell = Duration.seconds(1)
    /// A router keeps a session without connection for this long.
    public var memory = Duration.seconds(300)
    /// When the process itself was held up (stopped, swapped out), peers get this long to be heard before they're judged.
    public var hearing = Duration.seconds(1)

    /// The protocol's values.
    public init() {}
}

/// Bounds, each with its reason.
public enum SessionLimits {
    /// Enough to fill a local network's round trip with small messages; small enough to resend at once.
    public static let window = 32
    /// Messages an offline controller may collect.
    public static let outboxMessages = 1_000
    /// Bytes an offline controller may collect.
    public static let outboxBytes = 8 << 20
    /// What an entry of the outbox costs beside its body, so that tiny messages are counted as well.
    public static let entryCost = 64
    /// A hello's body: several times what a router has to say.
    public static let helloBytes = 4_096
    /// Child access points that a hello names: more hang behind no router of a home or an office floor.
    public static let children = 16
    /// Messages are put into the output while less than this waits there: a socket buffer's worth. So that a stalled
    /// peer costs one buffer and not the whole window.
    static let outputMark = 64 << 10
    /// With more than this waiting to be written, reading stops: only a peer that sends and never reads gets here.
    static let outputStop = 2 << 20
    /// Events, and bytes of bodies, that room is made for when a batch begins, if the one before had as many.
    static let eventsReserve = 256
    static let bodiesReserve = 16 << 10
    /// Messages delivered and not taken by the application; then reading stops, and goes on at half.
    package static let inboundMessages = 512
    /// Bytes of such messages.
    static let inboundBytes = 2 << 20
}
