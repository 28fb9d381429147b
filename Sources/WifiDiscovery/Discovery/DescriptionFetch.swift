import SocketCore

/// Why a device's description isn't known; none of these is more than a remark.
enum DescriptionError: Error, Equatable, CustomStringConvertible {
    /// The server answered wrongly.
    case answer(HTTPAnswerError)
    /// The connection failed or took too long.
    case exchange(StreamExchange.Ending)
    /// It is no description.
    case document(XMLReader.Failure)

    var description: String {
        switch self {
        case .answer(.status(let status)): "the device refuses its description with status \(status)"
        case .answer(.tooLong(let limit)): "the device's description is longer than \(limit) bytes"
        case .answer: "the device's answer is no HTTP"
        case .exchange(.timedOut): "the device's description didn't come in time"
        case .exchange(.stream(let end)): "\(end)"
        case .exchange(.satisfied): "the device's description ended early"
        case .document: "the device's description is malformed"
        }
    }
}

/// Fetches one description: the shell around ``HTTPAnswer`` and ``UPnPDescription``. Confined to the loop's thread.
final class LoopExchange {
    private var exchange: StreamExchange?
    private var answer = HTTPAnswer()
    private var outcome: Result<UPnPDescription, DescriptionError>?

    init(
        _ location: HTTPLocation, on loop: EventLoop, within limit: Duration,
        finish: @escaping (Result<UPnPDescription, DescriptionError>) -> Void
    ) throws(SystemError) {
        exchange = try StreamExchange(
            with: location.endpoint, on: loop, request: location.request, within: limit, take: { [unowned self] in take($0) },
            finish: { [unowned self] in finish(outcome ?? end($0)) })
    }

    func cancel() { exchange?.cancel() }

    /// - Returns: whether more is needed.
    private func take(_ bytes: RawSpan) -> Bool {
        do throws(HTTPAnswerError) {
            guard let body = try answer.take(bytes.withUnsafeBytes { Array($0) }) else { return true }
            outcome = LoopExchange.read(body)
        } catch {
            outcome = .failure(.answer(error))
        }
        return false
    }

    private func end(_ ending: StreamExchange.Ending) -> Result<UPnPDescription, DescriptionError> {
        guard ending == .stream(.peerFinished) else { return .failure(.exchange(ending)) }
        do throws(HTTPAnswerError) { return LoopExchange.read(try answer.finish()) } catch { return .failure(.answer(error)) }
    }

    private static func read(_ document: [UInt8]) -> Result<UPnPDescription, DescriptionError> {
        do throws(XMLReader.Failure) { return .success(try UPnPDescription(document)) } catch { return .failure(.document(error)) }
    }
}
