import Glibc

/// The system calls by which a journal reaches the disk, each as its manual page says. A test's own stand in where the disk is to fail.
package struct JournalDisk: Sendable {
    /// `write`: bytes written, or -1 with `errno`.
    package var write: @Sendable (Int32, UnsafeRawPointer, Int) -> Int = { Glibc.write($0, $1, $2) }
    /// `ftruncate`
    package var truncate: @Sendable (Int32, Int) -> Int32 = { ftruncate($0, off_t($1)) }
    /// `fdatasync`, of a file.
    package var sync: @Sendable (Int32) -> Int32 = { fdatasync($0) }
    /// `rename`
    package var rename: @Sendable (String, String) -> Int32 = { Glibc.rename($0, $1) }
    /// `open`, of a directory for reading: a descriptor.
    package var openDirectory: @Sendable (String) -> Int32 = { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    /// `fsync`, of a directory.
    package var syncDirectory: @Sendable (Int32) -> Int32 = { fsync($0) }

    /// The kernel's.
    package static let kernel = JournalDisk()

    package init() {}
}
