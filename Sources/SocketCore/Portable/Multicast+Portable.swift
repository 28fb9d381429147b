extension Multicast {
    /// Nothing: POSIX has no name for a datagram's arrival interface, so that a datagram counts as come by its socket's.
    static func prepareReception(_ descriptor: Int32, isV4: Bool) throws(SystemError) {}
}
