extension SessionIdentifier {
    /// A new session's name, from the system's secure source: whoever could guess it could take the session over.
    public static func random() -> SessionIdentifier {
        var source = SystemRandomNumberGenerator()
        return SessionIdentifier(high: source.next(), low: source.next())
    }
}
