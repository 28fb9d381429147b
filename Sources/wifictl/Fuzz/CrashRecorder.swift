import FrameCodec
import Glibc
import SocketCore
import Synchronization

/// Saves the case under way when the decoder kills the process or doesn't come back.
///
/// The case is noted in plain memory before it is judged. A signal handler may neither allocate nor lock: it formats the
/// artifact byte by byte from that memory and ends the process. A hang is a crash by SIGALRM, put off while runs go by.
enum CrashRecorder {
    /// Without a sign of life for so long the decoder hangs: a million times what a case takes.
    static let patience: UInt32 = 20

    /// The address of the `Slot`, 0 when nothing is recorded: the one thing that a handler can reach.
    private static let current = Atomic<UInt>(0)
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM]

    /// Starts recording for a campaign. `directory` must exist.
    static func start(seed: UInt64, directory: String, printsFinding: Bool) {
        guard current.load(ordering: .relaxed) == 0 else { return }
        let slot = UnsafeMutablePointer<CrashSlot>.allocate(capacity: 1)
        slot.initialize(to: CrashSlot(seed: seed, directory: directory, printsFinding: printsFinding))
        current.store(UInt(bitPattern: slot), ordering: .releasing)
        // A stack of its own: an overflowing stack can't run the handler that reports it.
        let stackSize = 64 * 1024
        var stack = stack_t()
        stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: stackSize, alignment: 16)
        stack.ss_size = stackSize
        sigaltstack(&stack, nil)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { CrashRecorder.caught($0) }
        action.sa_flags = Int32(SA_ONSTACK) | Int32(bitPattern: UInt32(SA_RESETHAND))
        for signal in signals { sigaction(signal, &action, nil) }
        isAlive()
    }

    /// Puts off the judgement that the decoder hangs.
    static func isAlive() { alarm(patience) }

    /// Forgets the case under way: what happens now isn't the decoder's doing.
    static func stop() {
        alarm(0)
        guard let slot = slot else { return }
        for signal in signals { Glibc.signal(signal, SIG_DFL) }
        current.store(0, ordering: .relaxed)
        slot.deinitialize(count: 1)
        slot.deallocate()
    }

    /// Notes the case that is judged next.
    @inline(__always)
    static func note(_ run: UInt64, _ fuzzCase: FuzzCase) {
        slot?.pointee.note(run, fuzzCase)
    }

    @inline(__always)
    private static var slot: UnsafeMutablePointer<CrashSlot>? {
        UnsafeMutablePointer(bitPattern: current.load(ordering: .relaxed))
    }

    private static func caught(_ signal: Int32) {
        slot?.pointee.report(signal)
        _exit(ExitStatus.negative.rawValue)
    }
}
