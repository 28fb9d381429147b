import Foundation
import Glibc
import SessionShaking

/// Shakes real sessions: `shake [SEEDS] [JOBS]` plays so many new worlds, `shake --seed N [TIMES]` one again, with its whole trace.
@main
enum Shake {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--seed", arguments.count > 1, let seed = UInt64(arguments[1]) {
            return await replay(seed, times: arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1)
        }
        let count = arguments.first.flatMap { UInt64($0) } ?? 300
        let jobs = arguments.dropFirst().first.flatMap { Int($0) } ?? 8
        // Seeds that no run had before: a hundred thousand for each second since 1970.
        let first = UInt64(time(nil)) * 100_000
        print("shaking \(count) worlds, seeds \(first)...\(first + count - 1), \(jobs) at a time")
        await ShakeWorld.prepare()
        let before = openDescriptors()
        let start = Date()
        let total = await ShakeWorld.run(seeds: first..<first + count, jobs: jobs)
        for failure in total.failures.prefix(1) { print(failure) }
        for failure in total.failures.dropFirst() { print("seed \(failure.seed): \(failure.failure ?? "")") }
        let seconds = Int(-start.timeIntervalSinceNow)
        print("\(total.sessions) sessions, \(total.messages) messages in \(seconds) s; \(total.failures.count) worlds failed")
        // Loops that were told to stop end on threads of their own.
        for _ in 0..<100 where openDescriptors() > before { poll(nil, 0, 20) }
        let left = openDescriptors() - before
        if left > 0 { print("\(left) descriptors are left open") }
        if !total.failures.isEmpty || left > 0 { exit(1) }
    }

    private static func replay(_ seed: UInt64, times: Int) async {
        for time in 1...max(1, times) {
            let outcome = await ShakeWorld.run(seed: seed)
            guard time == times || outcome.failure != nil else { continue }
            for line in outcome.trace { print(line) }
            print(outcome.failure.map { "seed \(seed): \($0)" } ?? "seed \(seed) holds")
            if outcome.failure != nil { exit(1) }
        }
    }

    private static func openDescriptors() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
}
