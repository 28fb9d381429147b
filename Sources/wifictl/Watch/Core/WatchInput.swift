import SocketCore

/// What can happen to the screen.
enum WatchInput: Sendable {
    /// A router is there, or something about it changed; the words say what.
    case router(WatchRouter, change: String?)
    /// A router is gone, and why.
    case lost(id: String, why: String)
    /// The Wi-Fi link in words, and its signal in dBm where it's known.
    case link(String)
    case signal(Double?)
    /// dBm at which one of a router's radios is heard.
    case routerSignal(id: String, Double)
    /// Which router is the one, and the sentence that says why.
    case selection(id: String?, sentence: String)
    /// A probe's round trip; nil when no answer came.
    case roundTrip(id: String, Duration?)
    case verdict(id: String, WatchVerdict)
    /// The session's state; nil when there is none any more.
    case session(WatchSession?)
    case counters(WatchSession.Counters)
    /// Properties that the router reported.
    case changed([(name: String, value: String)])
    /// Something that a person should read.
    case remark(String, Paint?)
    case key(WatchKey)
}

/// What a key wants.
enum WatchAction: Equatable, Sendable {
    case quit
    /// Make this router the current one, its session in place of the present one.
    case move(id: String)
    case verify(ids: [String])
    /// Leave the terminal to the shell until it's wanted again.
    case suspend
    case repaint
}
