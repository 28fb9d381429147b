import FrameCodec
import Glibc

/// The case under way in memory that a signal handler may read, and the writing of its artifact without allocating.
struct CrashSlot {
    private static let mostBytes = 1 << 20
    private static let mostCuts = 1 << 16

    private let seed: UInt64
    private let directory: UnsafeMutablePointer<CChar>
    private let printsFinding: Bool
    private let remarks: Int32
    private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: mostBytes)
    private let cuts = UnsafeMutablePointer<Int>.allocate(capacity: mostCuts)
    private var byteCount = 0
    private var cutCount = 0
    private var run: UInt64 = 0
    private var layout = FrameLayout.standard
    private var limits = FrameLimits()

    init(seed: UInt64, directory: String, printsFinding: Bool, remarks: Int32 = STDERR_FILENO) {
        self.remarks = remarks
        self.seed = seed
        self.directory = strdup(directory)
        self.printsFinding = printsFinding
    }

    mutating func note(_ run: UInt64, _ fuzzCase: FuzzCase) {
        self.run = run
        layout = fuzzCase.layout
        limits = fuzzCase.limits
        byteCount = min(fuzzCase.bytes.count, CrashSlot.mostBytes)
        cutCount = min(fuzzCase.cuts.count, CrashSlot.mostCuts)
        fuzzCase.bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { bytes.update(from: base, count: byteCount) } }
        fuzzCase.cuts.withUnsafeBufferPointer { if let base = $0.baseAddress { cuts.update(from: base, count: cutCount) } }
    }

    /// Called in the signal handler: only system calls and plain memory.
    func report(_ signal: Int32) {
        let isHang = signal == SIGALRM
        var path = SignalSafeText(descriptor: -1)
        path.add(directory)
        path.add(isHang ? "/hang-" : "/crash-")
        path.add(seed)
        path.add("-")
        path.add(run)
        path.add(".json")
        path.endString()
        let descriptor = path.withPath { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o644) }
        if descriptor >= 0 {
            writeFinding(to: descriptor, signal)
            close(descriptor)
        }
        if printsFinding { writeFinding(to: STDOUT_FILENO, signal) }
        var remark = SignalSafeText(descriptor: remarks)
        remark.add(isHang ? "\nwifictl: the decoder did not come back" : "\nwifictl: the decoder crashed with signal ")
        if !isHang { remark.add(UInt64(signal)) }
        remark.add(" in run ")
        remark.add(run)
        remark.add(" of seed ")
        remark.add(seed)
        remark.add(descriptor >= 0 ? " (show it again: wifictl fuzz --replay " : " (its file cannot be written: ")
        path.withPath { remark.add($0) }
        remark.add(")\n")
        remark.flush()
    }

    private func writeFinding(to descriptor: Int32, _ signal: Int32) {
        var text = SignalSafeText(descriptor: descriptor)
        text.add(
            signal == SIGALRM ? "{\"type\":\"finding\",\"kind\":\"hang\",\"seed\":" : "{\"type\":\"finding\",\"kind\":\"crash\",\"seed\":")
        text.add(seed)
        text.add(",\"run\":")
        text.add(run)
        text.add(",\"drive\":\"whole\",\"detail\":\"signal ")
        text.add(UInt64(signal))
        switch layout {
        case .standard: text.add("\",\"layout\":\"standard\",\"limit\":")
        case .littleEndian: text.add("\",\"layout\":\"littleEndian\",\"limit\":")
        case .asciiLength: text.add("\",\"layout\":\"asciiLength\",\"limit\":")
        }
        text.add(UInt64(limits.maximumBodyLength))
        text.add(",\"versions\":[")
        text.add(UInt64(limits.versions.lowerBound))
        text.add(",")
        text.add(UInt64(limits.versions.upperBound))
        text.add("],\"cuts\":[")
        for index in 0..<cutCount {
            if index > 0 { text.add(",") }
            text.add(UInt64(cuts[index]))
        }
        text.add("],\"input\":\"")
        for index in 0..<byteCount { text.addHex(bytes[index]) }
        text.add("\"}\n")
        text.flush()
    }
}
