import Glibc
import SocketCore

/// A folder of this process's own, which is gone with all that is in it when the value is.
struct ScratchFolder: ~Copyable {
    let path: String

    /// Makes it in `$TMPDIR`, else in /tmp; nobody else may look into it.
    ///
    /// - Parameter purpose: a word for its name.
    /// - Throws: ``ToolError`` when none can be made there.
    init(_ purpose: String) throws(ToolError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/wifictl-\(purpose)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ToolError("no folder can be made in \(parent): \(systemMessage(errno))", hint: "name a writable one in TMPDIR")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { ScratchFolder.remove(path) }

    /// What can't be removed stays: it lies in the system's folder for such things.
    private static func remove(_ folder: String) {
        if let stream = opendir(folder) {
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                guard name != ".", name != ".." else { continue }
                let path = folder + "/" + name
                // A link is removed and not followed; only a folder refuses to be unlinked.
                if unlink(path) != 0 { remove(path) }
            }
        }
        rmdir(folder)
    }
}
