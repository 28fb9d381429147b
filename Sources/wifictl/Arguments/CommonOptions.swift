/// The options that every command understands, declared once.
enum CommonOptions {
    static let interface = RepeatedOption("interface", "NAME", .text, "use this network interface only")
    static let group = Option("group", "ADDR", .text, "multicast group instead of the standard ones")
    static let port = Option("port", "N", ValueKind<UInt16>.integer(in: 1...65_535), "discovery port instead of 19510")
    static let home = Option("home", "DIR", .text, "where state lies instead of $WIFICTL_HOME")
    static let json = Flag("json", "print JSON Lines instead of text")
    static let quiet = Flag("quiet", letter: "q", "no remarks and no progress")
    static let verbose = Flag("verbose", letter: "v", "more remarks")
    static let help = Flag("help", letter: "h", "show this help")
    static let version = Flag("version", letter: "V", "show the version")

    /// For commands that touch the network.
    static let network: [any OptionDeclaration] = [interface, group, port]
    /// For every command.
    static let always: [any OptionDeclaration] = [home, json, quiet, verbose, help]
    /// All that any command accepts: those without a meaning for one are accepted there too, so that scripts can
    /// pass one set to all.
    static let all: [any OptionDeclaration] = network + always
}
