/// An open descriptor with one owner; closed when the owner lets go.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The kernel's number, for calls only: never keep it beyond this value's life.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) { self.number = number }

    deinit { SystemCalls.close(number) }
}
