import SocketCore

extension RouterConnection {
    /// Reads a stream in pieces, the next after the last, to the size that it had at the first answer.
    ///
    /// A connection that is lost on the way is waited for; reading goes on where it was. Pieces grow while the router answers fast and
    /// shrink while it doesn't, and a slow router rests between them.
    ///
    /// - Parameters:
    ///   - stream: the stream's name.
    ///   - offset: where to begin, in bytes.
    ///   - total: the stream's size, where an earlier reading has learned it.
    ///   - settings: how large pieces are, and how patient the reading is.
    ///   - onProgress: told after each piece.
    ///   - take: gets the bytes in order; what it throws ends the reading.
    /// - Returns: the stream's size in bytes.
    /// - Throws: ``CommandError``, ``ReadError``, or what `take` throws.
    @discardableResult
    public func read(
        _ stream: String, from offset: Int = 0, total: Int? = nil, settings: PieceSchedule.Settings = PieceSchedule.Settings(),
        onProgress: @Sendable (ReadProgress) -> Void = { _ in }, _ take: @Sendable (StreamPiece) async throws -> Void
    ) async throws -> Int {
        if let obstacle = knownCapabilities()?.obstacle(to: .read(stream: stream, offset: 0, count: 0)) { throw obstacle }
        var schedule = PieceSchedule(from: offset, total: total, settings: settings)
        while true {
            switch schedule.next(now: loop.currentInstant) {
            case .done(let total): return total
            case .pause(let until): try await Task.sleep(for: until - loop.currentInstant)
            case .ask(let offset, let count):
                guard let value = try await piece(stream, offset, count, until: schedule.deadline) else {
                    try schedule.unanswered(now: loop.currentInstant)
                    continue
                }
                guard let piece = StreamPiece(value) else { throw CommandError.malformedAnswer("it's no piece of a stream") }
                let bytes = try schedule.received(piece, now: loop.currentInstant)
                try await take(StreamPiece(offset: offset, total: schedule.total ?? piece.total, data: Array(bytes)))
                onProgress(schedule.progress)
            }
        }
    }

    /// The answer to one request; nil when there was none, or none by then.
    private func piece(_ stream: String, _ offset: Int, _ count: Int, until deadline: Instant) async throws(CommandError) -> JSONValue? {
        let asking = Task(executorPreference: loop) { () -> Result<JSONValue, CommandError> in
            do throws(CommandError) { return .success(try await self.request(.read(stream: stream, offset: offset, count: count))) } catch {
                return .failure(error)
            }
        }
        let left = deadline - loop.currentInstant
        let clock = Task {
            try await Task.sleep(for: left)
            asking.cancel()
        }
        let result = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        clock.cancel()
        switch result {
        case .success(let value): return value
        case .failure(.timedOut), .failure(.linkBad): return nil
        // Called off by the clock: nobody else has ended it.
        case .failure(.cancelled) where asking.isCancelled && !Task.isCancelled && !isOver: return nil
        case .failure(let error): throw error
        }
    }

    /// Reads a stream into a file: beside it, `path.part`, and renamed when it's whole. What an earlier reading of the same stream, of the
    /// same boot of the same router, has left there is gone on with. A file that was there keeps its mode; what is no regular file (a pipe,
    /// a device) is written as the bytes come.
    ///
    /// - Returns: the stream's size, and how much of it was there already, in bytes.
    /// - Throws: ``CommandError``, ``ReadError``, ``StreamFileError``; what came into a file is kept then.
    public func read(
        _ stream: String, into path: String, settings: PieceSchedule.Settings = PieceSchedule.Settings(),
        onProgress: @Sendable (ReadProgress) -> Void = { _ in }
    ) async throws -> (total: Int, kept: Int) {
        let place = try OutputPlace(path)
        guard place.isFile else {
            let pipe = try await StreamPipe(place)
            return (try await read(stream, settings: settings, onProgress: onProgress) { try await pipe.write($0.data) }, 0)
        }
        let source = StreamFile.Source(router: "\(mac)", boot: opening?.router?.identity.boot, stream: stream)
        let file = try StreamFile(place, source)
        let kept = file.kept
        let total = try await read(stream, from: kept, total: file.total, settings: settings, onProgress: onProgress) { piece in
            try file.append(piece.data, total: piece.total)
        }
        try file.finish(total: total)
        return (total, kept)
    }
}
