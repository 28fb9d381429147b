/// What was set once for all commands, and where: the environment goes before the file, and an option before both.
struct Settings: Sendable {
    enum Source: Equatable, Sendable {
        case file(line: Int)
        case environment(variable: String)

        /// As `config` calls it.
        var word: String {
            switch self {
            case .file: "file"
            case .environment: "environment"
            }
        }
    }

    struct Entry: Sendable {
        let setting: Setting
        /// As they would be written on the command line; one where the option isn't repeatable.
        let values: [String]
        let source: Source
    }

    /// Where the configuration file lies, or would lie; nil where nothing tells.
    let path: String?
    /// Whether there is one.
    let hasFile: Bool
    private(set) var entries: [String: Entry] = [:]

    static let none = Settings()

    private init() { (path, hasFile) = (nil, false) }

    /// - Parameters:
    ///   - environment: the value of a variable.
    ///   - read: a file's text; nil when there is no such file.
    /// - Throws: ``ToolError`` that names the file and the line, or the variable.
    init(environment: @escaping (String) -> String?, read: (String) throws(ToolError) -> String?) throws(ToolError) {
        let filled = { (name: String) in environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        let named = filled("WIFICTL_CONFIG")
        path = named ?? Settings.standardPath(filled)
        let text = try path.map { path throws(ToolError) in try read(path) } ?? nil
        hasFile = text != nil
        if let named, text == nil {
            throw ToolError("there is no \(named), which WIFICTL_CONFIG names", hint: "unset it, or see wifictl config --sample")
        }
        if let path, let text { try take(text, of: path, home: filled("HOME")) }
        for setting in Setting.all { if let value = filled(setting.variable) { try take(value, setting) } }
    }

    /// `$XDG_CONFIG_HOME/wifictl/config`, else `~/.config/wifictl/config`.
    private static func standardPath(_ environment: (String) -> String?) -> String? {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder + "/wifictl/config" }
        return environment("HOME").map { $0 + "/.config/wifictl/config" }
    }

    private mutating func take(_ text: String, of path: String, home: String?) throws(ToolError) {
        do throws(SettingsText.Problem) {
            for line in try SettingsText.lines(text) { try take(line, folder: Settings.folder(of: path), home: home) }
        } catch {
            throw ToolError("\(path):\(error.line): \(error.complaint)", hint: error.hint)
        }
    }

    private mutating func take(_ line: SettingsText.Line, folder: String, home: String?) throws(SettingsText.Problem) {
        guard let setting = Setting.all.first(where: { $0.name == line.name }) else {
            let near = Suggestion.nearest(to: line.name, among: Setting.all.map(\.name))
            throw SettingsText.Problem(
                line: line.number, complaint: "there is no setting '\(line.name)'",
                hint: near.map { "did you mean \($0)?" } ?? "wifictl config lists them")
        }
        let before = entries[line.name]
        if case .file(let first)? = before?.source, !setting.option.isRepeatable {
            throw SettingsText.Problem(
                line: line.number, complaint: "\(line.name) is set twice", hint: "only one value counts; the other is in line \(first)")
        }
        // Nothing but a path has a blank and a # in it.
        guard setting.isPath || line.value.firstMatch(of: /\s#/) == nil else {
            throw SettingsText.Problem(
                line: line.number, complaint: "\(line.name): '\(line.value)' has a comment behind it",
                hint: "comments need a line of their own")
        }
        let value = setting.isPath ? Settings.located(line.value, folder: folder, home: home) : line.value
        do throws(ValueProblem) { _ = try setting.option.read(value) } catch {
            throw SettingsText.Problem(
                line: line.number, complaint: "\(line.name): '\(value)' \(error.complaint)", hint: error.hint ?? "see wifictl config")
        }
        entries[line.name] = Entry(
            setting: setting, values: (before?.values ?? []) + [value], source: before?.source ?? .file(line: line.number))
    }

    private mutating func take(_ text: String, _ setting: Setting) throws(ToolError) {
        let values = setting.option.isRepeatable ? text.split(separator: ",").map(String.init) : [text]
        for value in values {
            do throws(ValueProblem) { _ = try setting.option.read(value) } catch {
                throw ToolError("\(setting.variable): '\(value)' \(error.complaint)", hint: error.hint)
            }
        }
        entries[setting.name] = Entry(setting: setting, values: values, source: .environment(variable: setting.variable))
    }

    /// Where an entry is written: the file with its line, or the variable.
    func place(of entry: Entry) -> String {
        switch entry.source {
        case .file(let line): "\(path ?? ""):\(line)"
        case .environment(let variable): variable
        }
    }

    /// The error with the places of the settings that it is about, which the command line doesn't show: those that it names, and files that
    /// its text names.
    func placing(_ error: any Error, _ arguments: Arguments) -> any Error {
        let text = "\(error)"
        let named = (error as? UsageError)?.options ?? (error as? ToolError)?.options ?? []
        let places = Setting.all.compactMap { setting -> String? in
            guard arguments.isSet(named: setting.name), let entry = entries[setting.name] else { return nil }
            guard named.contains(setting.name) || setting.isPath && entry.values.contains(where: { Settings.names(text, $0) }) else {
                return nil
            }
            return "\(setting.name) = \(entry.values.joined(separator: ",")) is set by \(place(of: entry))"
        }
        guard !places.isEmpty else { return error }
        switch error {
        case let error as UsageError:
            return UsageError(error.message, hint: ([error.hint].compactMap { $0 } + places).joined(separator: "; "))
        case let error as ToolError:
            return ToolError(error.message, hint: ([error.hint].compactMap { $0 } + places).joined(separator: "; "))
        default:
            // Errors of the library have their advice at the end, in brackets, too.
            let told = places.joined(separator: "; ")
            return text.hasSuffix(")") ? ToolError("\(text.dropLast()); \(told))") : ToolError(text, hint: told)
        }
    }

    /// Whether a text names that file, or one in that directory.
    private static func names(_ text: String, _ path: String) -> Bool {
        text.ranges(of: path).contains { range in
            let before = text[..<range.lowerBound].last
            let after = text[range.upperBound...].first
            return (before ?? " ").isWhitespace && (after.map { $0.isWhitespace || "/:,;)".contains($0) } ?? true)
        }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func located(_ path: String, folder: String, home: String?) -> String {
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/"), let home { return home + path.dropFirst() }
        return folder + "/" + path
    }
}

extension Arguments {
    /// The same with what settings say of options that aren't given.
    func filled(from settings: Settings, for command: Command) throws(UsageError) -> Arguments {
        let options = CommonOptions.all + command.options
        var fallbacks: [String: [any Sendable]] = [:]
        for (name, entry) in settings.entries where entry.setting.holds(for: command) && !isSetAside(name, in: command) {
            guard let option = options.first(where: { $0.name == name }) else { continue }
            do throws(ValueProblem) {
                for value in entry.values { fallbacks[name, default: []].append(try option.read(value)) }
            } catch {
                // Only a word that this command understands otherwise comes here; the file's own faults were told with their line.
                throw UsageError(
                    "\(name) = \(entry.values.joined(separator: ",")) \(error.complaint) for \(command.name)",
                    hint: [error.hint, "it's set by \(settings.place(of: entry))"].compactMap { $0 }.joined(separator: "; "))
            }
        }
        return withFallbacks(fallbacks)
    }

    private func isSetAside(_ name: String, in command: Command) -> Bool {
        let partners = Setting.pairs.first { $0.contains(name) } ?? [name]
        return partners.contains { isGiven(named: $0) }
    }
}
