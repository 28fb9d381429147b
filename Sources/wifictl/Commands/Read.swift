import SocketCore
import Synchronization
import WifiDiscovery

/// `read ROUTER STREAM`: a stream of the router, in pieces.
extension Command {
    private static let outputFile = Option(
        "output", "FILE", .path, "write there; an unfinished FILE.part is gone on with, and renamed when it is whole")

    static let read = Command(
        name: "read", summary: "fetches a stream of a router in pieces", positionals: ["ROUTER", "STREAM"],
        discussion: """
            Without --output the bytes go to standard output. A connection that is lost on the way is told and resumed where it was; the \
            time of --timeout begins anew with each piece that comes, and stands still while whoever takes the bytes is waited for. When it \
            is over, what came stays in FILE.part. That is gone on with when it is of the same stream and the router hasn't rebooted \
            since; else the stream is read anew. A FILE that is a pipe or a device is written as the bytes come.
            """,
        options: [outputFile, SessionTool.timeout, SessionTool.alone] + SessionTool.framing + TrustOptions.talking, isForAgent: isForAgent,
        examples: [Example("wifictl read Attic log --output attic.log", "with progress, and resumable after an interruption")]
    ) { arguments, context in
        let stream = try arguments.required(1, "STREAM")
        let path = arguments[outputFile]
        // As it was written: the agent's working directory is another.
        let shown = arguments.words(outputFile.name).last ?? path
        let output = context.output
        guard path != nil || !output.isJSON else {
            throw UsageError("with --json the bytes need a file", hint: "add --output FILE")
        }
        // Looked at before anybody is asked for anything.
        let part = try path.map { try OutputPlace($0) }.flatMap { place -> String? in
            guard place.isFile else { return nil }
            return (place.target == path ? shown ?? place.target : place.target) + ".part"
        }
        var settings = PieceSchedule.Settings()
        settings.patience = arguments[SessionTool.timeout]
        return try await SessionTool.withRouter(
            try arguments.required(0, "ROUTER"), arguments, context, within: settings.patience, boundsOpening: true
        ) { [settings] router in
            let link = LinkRemarks(router.mac, output)
            let observation = await router.observe(link.hear)
            let last = Mutex(ReadProgress?.none)
            let progress: @Sendable (ReadProgress) -> Void = { step in
                last.withLock { $0 = step }
                output.progress("\(stream): \(step.offset) of \(step.total ?? 0) bytes")
            }
            var (total, kept) = (0, 0)
            do {
                if let path {
                    (total, kept) = try await router.read(stream, into: path, settings: settings, onProgress: progress)
                } else {
                    total = try await router.read(stream, settings: settings, onProgress: progress) { piece in
                        try output.stream(piece.data)
                        await output.room()
                    }
                }
                await router.stopObserving(observation)
            } catch {
                await router.stopObserving(observation)
                output.clearProgress()
                if case ReadError.noProgress(let time, let offset) = error {
                    throw silent(router.mac, time, link.obstacle, offset, last.withLock { $0?.total }, part)
                }
                guard Task.isCancelled else { throw error }
                if let step = last.withLock(\.self) { output.remark(interrupted(step, part)) }
                // What the connection makes of being closed under way is no failure.
                throw CancellationError()
            }
            output.clearProgress()
            if output.isJSON {
                output.json(
                    "read", ["stream": .string(stream), "bytes": .whole(total), "kept": .whole(kept), "file": .text(shown)])
            }
            output.remark("\(total) bytes\(shown.map { " in \($0)" } ?? "")\(kept > 0 ? ", \(kept) of them from an earlier run" : "")")
            return .success
        }
    }

    /// No piece came for too long.
    private static func silent(
        _ mac: MACAddress, _ time: Duration, _ obstacle: String?, _ offset: Int, _ total: Int?, _ part: String?
    ) -> ToolError {
        let have = "\(offset) of \(total.map { "\($0)" } ?? "?") bytes"
        return ToolError(
            "no answer from \(mac) within \(time.briefText)\(obstacle.map { " (\($0))" } ?? ""), with \(have) read",
            hint: part.map { "they are in \($0), and the same command goes on there once the router is back" }
                ?? "is it reachable? see wifictl discover, or give it more with --timeout")
    }

    /// What there is of a stream that wasn't read to its end.
    private static func interrupted(_ step: ReadProgress, _ part: String?) -> String {
        let have = "interrupted: \(step.offset) of \(step.total.map { "\($0)" } ?? "?") bytes"
        return part.map { "\(have) in \($0); the same command goes on there" } ?? have
    }

    /// What the shell has opened for this process (`>(...)`) isn't there in the agent's.
    private static let isForAgent: @Sendable (Arguments) -> Bool = { arguments in
        guard SessionTool.isForAgent(arguments), let path = arguments[outputFile] else { return SessionTool.isForAgent(arguments) }
        return (try? OutputPlace(path))?.isFile ?? true
    }
}
