import SocketCore

/// `config`: what holds without being typed, and why.
extension Command {
    private static let sample = Flag("sample", "print a configuration file to start from, with every setting commented out")

    static let config = Command(
        name: "config", summary: "shows the settings in force and where each comes from",
        discussion: """
            What one types every time can be set once: in the file that $WIFICTL_CONFIG names, else $XDG_CONFIG_HOME/wifictl/config, \
            else ~/.config/wifictl/config, a line "name = value" each, with the names of the options; comments have lines of their own that begin with #. Files \
            are named relative to it. A variable (WIFICTL_PORT for port; a list has commas) goes before the file, and an option \
            before both.
            """,
        options: [sample] + Setting.all.map(\.option).filter { option in !CommonOptions.all.contains { $0.name == option.name } },
        examples: [
            Example("wifictl config", "a line a setting, with its source"),
            Example("mkdir -p ~/.config/wifictl && wifictl config --sample > ~/.config/wifictl/config", "a file to fill in"),
        ]
    ) { arguments, context in
        if arguments[sample] {
            context.output.line(SettingsReport.sample())
            return .success
        }
        SettingsReport(arguments, context).show()
        return .success
    }
}

/// What `config` prints.
private struct SettingsReport {
    private let arguments: Arguments
    private let context: Context

    init(_ arguments: Arguments, _ context: Context) {
        self.arguments = arguments
        self.context = context
    }

    func show() {
        let output = context.output
        let rows = Setting.all.map(row)
        if output.isJSON {
            for row in rows {
                output.json(
                    "setting",
                    [
                        "name": .string(row.name), "value": .text(row.value), "source": .string(row.source), "place": .text(row.place),
                    ])
            }
            return
        }
        var table = Table([
            Table.Column("SETTING"), Table.Column("VALUE", least: 12), Table.Column("FROM"), Table.Column("WHERE", least: 12),
        ])
        for row in rows {
            table.add([
                Table.Cell(row.name), Table.Cell(row.value ?? "", row.source == "default" ? .dim : .bold),
                Table.Cell(row.source, row.source == "default" ? .dim : nil), Table.Cell(row.place ?? ""),
            ])
        }
        output.table(table)
        guard let path = context.settings.path else { return }
        output.remark(
            context.settings.hasFile ? "the configuration file is \(path)" : "there is no \(path) yet (wifictl config --sample prints one)")
    }

    private func row(_ setting: Setting) -> (name: String, value: String?, source: String, place: String?) {
        if arguments.isGiven(named: setting.name) {
            return (setting.name, arguments.words(setting.name).joined(separator: ","), "option", "--\(setting.name)")
        }
        guard let entry = context.settings.entries[setting.name] else {
            let standard = setting.name == CommonOptions.home.name ? context.home : setting.option.defaultText
            return (setting.name, standard ?? SettingsReport.standards[setting.name], "default", nil)
        }
        let value = entry.values.joined(separator: ",")
        return (setting.name, value, entry.source.word, context.settings.place(of: entry))
    }

    /// What holds for options without a default of their own, in words.
    private static let standards = [
        "interface": "all", "group": "239.255.19.51 and ff12::1951", "port": "19510", "bssid": "auto",
    ]

    static func sample() -> String {
        let lines = Setting.all.map { setting in
            let value = setting.option.defaultText ?? setting.option.placeholder ?? ""
            return "# \(setting.help)\(setting.option.isRepeatable ? "; may be repeated" : "")\n#\(setting.name) = \(value)"
        }
        return "# Settings of wifictl: name = value, as on the command line but without dashes. Comments have lines of their own.\n\n"
            + lines.joined(separator: "\n\n")
    }
}
