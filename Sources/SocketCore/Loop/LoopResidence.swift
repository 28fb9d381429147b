import Glibc

/// Which thread a loop lives on, by a mark that the thread itself carries.
///
/// Not by comparing `pthread_self()`: libc promises the compiler that it always answers the same, which is true of a thread and not of an
/// async function, whose parts run on several. With optimisation on, an answer from before an `await` may be used again after it.
/// `pthread_getspecific` promises nothing, so that it's asked each time.
struct LoopResidence {
    /// One for all loops: a process has a thousand keys or so.
    private static let sharedKey: Result<pthread_key_t, SystemError> = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        return code == 0 ? .success(key) : .failure(SystemError(function: "pthread_key_create", code: code))
    }()

    private let key: pthread_key_t
    /// What the loop's thread carries.
    private let mark: UnsafeRawPointer

    /// - Parameter owner: lives as long as the loop, and is no other loop's.
    /// - Throws: ``SystemError`` when the process has no thread-specific key left.
    init(of owner: AnyObject) throws(SystemError) {
        key = try LoopResidence.sharedKey.get()
        mark = UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
    }

    /// The calling thread is the loop's from now on.
    func moveIn() {
        // Fails only without memory; then the first look at the loop's state says so, by its precondition.
        pthread_setspecific(key, mark)
    }

    /// Whether the calling thread is the loop's.
    var isHere: Bool { pthread_getspecific(key).map { UnsafeRawPointer($0) } == mark }
}
