import SocketCore
import WifiDiscovery

/// `identity …`: makes certificates for tests and small fleets.
extension Command {
    private static let pen = DefaultedOption(
        "pen", "N", ValueKind<UInt32>.integer(in: 1...UInt32.max), default: CertificateAuthority.exampleEnterprise, shown: "32473",
        "the company's private enterprise number; 32473 is for examples")
    private static let companyName = DefaultedOption(
        "name", "S", ValueKind<String>.text, default: "Example", shown: "Example", "the company's name, for display")
    private static let mac = Option("mac", "MAC", ValueKind<MACAddress>.deviceAddress, "the router's MAC; required")
    private static let radios = RepeatedOption("bssid", "MAC", ValueKind<MACAddress>.deviceAddress, "a radio's burnt-in BSSID; at most 8")
    private static let operatorName = Option("id", "NAME", .operatorID, "letters, digits, dots and dashes; required")
    private static let days = Option("days", "N", ValueKind<Int>.integer(in: 1...36_500), "days of validity instead of for ever")
    private static let listDays = DefaultedOption(
        "days", "N", ValueKind<Int>.integer(in: 1...36_500), default: CertificateAuthority.listDays, shown: "30",
        "days after which the list counts as stale (what it lists stays refused)")

    private static let replace = Flag("replace", "write over the files of an earlier certificate, which counts until it's revoked")

    static let identityNewCompany = Command(
        name: "identity new-company", summary: "makes a company: two roots and empty revocation lists", positionals: ["DIR"],
        discussion: """
            Routers are judged by company-root.pem, controllers by operator-root.pem: two issuers, so that a stolen router's key admits \
            nobody. Keep the two .key files to yourself, and a backup of DIR.
            """, options: [pen, companyName], usesNetwork: false,
        examples: [Example("wifictl identity new-company fleet --pen 32473", "begins a fleet in the directory fleet")]
    ) { arguments, context in
        let company = try CertificateAuthority.create(
            in: arguments.required(0, "DIR"), name: arguments[companyName], enterprise: arguments[pen], now: .systemNow())
        guard !context.output.isJSON else {
            context.output.json(
                "company",
                [
                    "directory": .string(company.directory), "pen": .whole(company.enterprise), "root": .string(company.companyRootFile),
                    "clientRoot": .string(company.operatorRootFile), "crl": .string(company.companyListFile),
                    "clientCrl": .string(company.operatorListFile),
                ])
            return .success
        }
        context.output.line("\(company.companyRootFile)   for controllers: wifictl verify --root")
        context.output.line("\(company.operatorRootFile)   for routers: wifictl router --client-root")
        return .success
    }

    static let identityIssueDevice = Command(
        name: "identity issue-device", summary: "issues a router's certificate", positionals: ["DIR"],
        discussion: """
            A new key and a certificate for it, in DIR/devices. The certificate doesn't expire unless --days says so. Where one lies there \
            that isn't revoked, nothing is done without --replace.
            """,
        options: [mac, radios, days, replace], usesNetwork: false,
        examples: [
            Example(
                "wifictl identity issue-device fleet --mac 02:00:5e:00:53:01 --bssid 02:00:5e:00:53:11",
                "for one router with one radio")
        ]
    ) { arguments, context in
        guard let mac = arguments[mac] else { throw UsageError("--mac is missing", hint: "the MAC that the router's replies carry") }
        let company = try CertificateAuthority(opening: arguments.required(0, "DIR"))
        let issued = try company.issueDevice(
            address: mac.bits, radios: arguments[radios].map(\.bits), days: arguments[days], now: .systemNow(),
            replacing: arguments[replace])
        show(issued, context)
        return .success
    }

    static let identityIssueOperator = Command(
        name: "identity issue-operator", summary: "issues a controller's certificate", positionals: ["DIR"],
        discussion: """
            A new key and a certificate for it, in DIR/operators. The certificate doesn't expire unless --days says so. Where one lies there \
            that isn't revoked, nothing is done without --replace.
            """,
        options: [operatorName, days, replace], usesNetwork: false,
        examples: [Example("wifictl identity issue-operator fleet --id field-7 --days 365", "for a year")]
    ) { arguments, context in
        guard let id = arguments[operatorName] else { throw UsageError("--id is missing", hint: "a name such as field-7") }
        let company = try CertificateAuthority(opening: arguments.required(0, "DIR"))
        show(try company.issueOperator(id: id, days: arguments[days], now: .systemNow(), replacing: arguments[replace]), context)
        return .success
    }

    static let identityRevoke = Command(
        name: "identity revoke", summary: "puts a certificate on its issuer's revocation list", positionals: ["DIR", "SERIAL"],
        discussion: """
            SERIAL may be its beginning, as far as no other certificate's begins like that. The list is signed anew, and has to be handed to \
            all that judge: controllers for routers, routers for controllers.
            """,
        options: [listDays], usesNetwork: false,
        examples: [Example("wifictl identity revoke fleet 4f3a9c", "with the serial that identity show prints, or the beginning of it")]
    ) { arguments, context in
        let company = try CertificateAuthority(opening: arguments.required(0, "DIR"))
        let serial = try company.serial(beginning: arguments.required(1, "SERIAL"))
        let file = try company.revoke(serial: serial, listDays: arguments[listDays], now: .systemNow())
        if context.output.isJSON {
            context.output.json("revoked", ["serial": .string(serial), "crl": .string(file)])
        } else {
            context.output.line("\(file)   lists \(serial)")
            context.output.remark("hand it out: wifictl trust add where routers are judged, wifictl router --crl where controllers are")
        }
        return .success
    }

    private static func show(_ issued: CertificateAuthority.Issued, _ context: Context) {
        guard context.output.isJSON else {
            context.output.line(issued.certificateFile)
            context.output.line("\(issued.keyFile)   private: give it to nobody else")
            context.output.remark("serial \(issued.facts.serial), valid \(CertificateText.validity(issued.facts))")
            if let earlier = issued.replaced { context.output.remark("replaces serial \(earlier), which counts until it's revoked") }
            return
        }
        context.output.json(
            "issued",
            [
                .init("file", .string(issued.certificateFile)), .init("keyFile", .string(issued.keyFile)),
                .init("replaced", .text(issued.replaced)),
            ]
                + CertificateText.members(issued.facts))
    }
}

extension ValueKind where Value == String {
    /// The id of an operator, as its certificate names it.
    fileprivate static var operatorID: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard CertificateAuthority.isOperatorID(text) else { throw ValueProblem("isn't 1 to 64 letters, digits, dots and dashes") }
            return text
        }
    }
}

extension ValueKind where Value == MACAddress {
    /// A MAC that a device can have, in any spelling.
    fileprivate static var deviceAddress: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            let address: MACAddress
            do throws(MACAddressError) { address = try MACAddress(parsing: text) } catch {
                throw ValueProblem("isn't a MAC address: \(error)")
            }
            guard address.isUsableAsDevice else { throw ValueProblem("is no single device's address") }
            return address
        }
    }
}
