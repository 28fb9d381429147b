/// Why a netlink reply can't be used. The kernel's fault, or ours for asking wrongly.
public enum NetlinkError: Error, Equatable, Sendable {
    /// A message or attribute says that it is longer than what is there, or shorter than its own header.
    case badLength(offset: Int, declared: Int, have: Int)
    /// The kernel refused, with this error number.
    case refused(errno: Int32)
    /// The kernel's tables changed while they were read: ask again.
    case interrupted
}

extension NetlinkError: CustomStringConvertible {
    /// What is wrong, for people.
    public var description: String {
        switch self {
        case .badLength(let offset, let declared, let have):
            "netlink reply: the message at byte \(offset) declares \(declared) bytes, \(have) are there"
        case .refused(let errno): "the kernel refused a netlink request (error \(errno))"
        case .interrupted: "the kernel's table changed while it was read"
        }
    }
}
