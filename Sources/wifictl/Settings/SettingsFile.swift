import Glibc

/// The configuration file as it lies on disk.
enum SettingsFile {
    /// Its text; nil when there is none.
    static func read(_ path: String) throws(ToolError) -> String? {
        guard access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR else { return nil }
        let bytes: [UInt8]
        do { bytes = try InputFile(path).all(limit: SettingsText.largestSize) } catch let error as ToolError { throw error } catch {
            throw ToolError("cannot read \(path): \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ToolError("\(path) isn't text in UTF-8", hint: "see wifictl config --sample")
        }
        return text
    }
}
