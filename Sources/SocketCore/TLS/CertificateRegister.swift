extension CertificateAuthority {
    /// What was issued, a JSON line each: `{"serial":"…","kind":"device","label":"…","notAfter":"…"}`.
    struct Register {
        let file: String

        /// Adds a line; the file is replaced whole, so that no half line is ever left.
        ///
        /// - Throws: ``TLSError/configuration(_:)``.
        func add(_ facts: CertificateFacts, _ kind: Kind, _ label: String) throws(TLSError) {
            let line = JSONValue.object([
                .init("serial", .string(facts.serial)), .init("kind", .string(kind.rawValue)), .init("label", .string(label)),
                .init("notAfter", .string(facts.notAfter.description)),
            ])
            let earlier = try TLSFile.exists(file) ? TLSFile.read(file) : []
            try TLSFile.write(earlier + line.encoded() + [0x0A], to: file)
        }

        /// Which root issued the certificate with that serial (lower-case hex without leading zeros); nil for none.
        ///
        /// - Throws: ``TLSError/configuration(_:)``.
        func kind(of serial: String) throws(TLSError) -> Kind? {
            try entries().first { $0["serial"]?.stringValue == serial }?["kind"]?.stringValue.flatMap(Kind.init(rawValue:))
        }

        /// All serials, in the order in which they were issued.
        ///
        /// - Throws: ``TLSError/configuration(_:)``.
        func serials() throws(TLSError) -> [String] { try entries().compactMap { $0["serial"]?.stringValue } }

        private func entries() throws(TLSError) -> [JSONValue] {
            guard TLSFile.exists(file) else { return [] }
            // A line that somebody has edited to death doesn't hide the others.
            return try TLSFile.read(file).split(separator: 0x0A).compactMap { try? JSONValue.parse(Array($0)) }
        }
    }
}
