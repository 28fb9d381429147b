import SocketCore

extension RouterConnection {
    /// Names an observer to ``stopObserving(_:)``.
    public struct Observation: Hashable, Sendable {
        let number: Int
    }

    /// Tells `observer` all that the session tells from now on, beside whoever hears it already; called on the loop's thread.
    public func observe(_ observer: @escaping @Sendable (SessionEvent) -> Void) -> Observation {
        lastObservation += 1
        observers[lastObservation] = observer
        return Observation(number: lastObservation)
    }

    /// The observer hears nothing more.
    public func stopObserving(_ observation: Observation) { observers[observation.number] = nil }
}
