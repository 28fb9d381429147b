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
            guard TLSFile.exists(file) else { return nil }
            for line in try TLSFile.read(file).split(separator: 0x0A) {
                // A line that somebody has edited to death doesn't hide the others.
                guard let entry = try? JSONValue.parse(Array(line)), entry["serial"]?.stringValue == serial else { continue }
                return entry["kind"]?.stringValue.flatMap(Kind.init(rawValue:))
            }
            return nil
        }
    }
}
