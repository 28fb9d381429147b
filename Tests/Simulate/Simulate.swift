import Glibc
import SessionSimulation

/// Runs the session simulator: `simulate [SEEDS] [FIRST] [JOBS]`, or `simulate --seed N` for one seed with its whole trace,
/// `simulate --core-bench` for the cost of a message, `simulate --mutants` (debug builds) for the seeds that catch built-in faults.
@main
enum Simulate {
    /// Seeds that a worker takes at a time.
    private static let block: UInt64 = 50

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--core-bench" { return CoreBench.run() }
        #if DEBUG
            if arguments.first == "--mutants" {
                for mutant in SimMutant.all { print("\(mutant): \(mutant.firstCatch().map { "seed \($0)" } ?? "not caught")") }
                return
            }
        #endif
        if arguments.first == "--seed", arguments.count > 1, let seed = UInt64(arguments[1]) { return replay(seed) }
        let count = arguments.first.flatMap { UInt64($0) } ?? 2_000
        let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? freshSeed()
        let jobs = arguments.dropFirst(2).first.flatMap { Int($0) } ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        print("simulating \(count) worlds, seeds \(first)...\(first + count - 1), \(jobs) at a time")
        let clock = ContinuousClock()
        let start = clock.now
        let total = await run(first..<first + count, jobs, clock)
        let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
        for failure in total.failures.prefix(1) { print(failure) }
        for failure in total.failures.dropFirst().prefix(20) { print("seed \(failure.seed): \(failure.what)") }
        let rate = Int(Double(total.sessions) / max(seconds, 0.001))
        print(
            "\(total.sessions) sessions, \(total.messages) messages in \(seconds) s, \(rate) sessions a second; "
                + "\(total.failures.count) seeds failed")
        if !total.failures.isEmpty { exit(1) }
    }

    /// Seeds that no run had before: a hundred thousand for each second since 1970.
    private static func freshSeed() -> UInt64 { UInt64(time(nil)) * 100_000 }

    private struct Total: Sendable {
        var sessions = 0
        var messages = 0
        var failures: [SimFailure] = []
        var seeds = 0

        mutating func add(_ other: Total) {
            sessions += other.sessions
            messages += other.messages
            failures += other.failures
            seeds += other.seeds
        }
    }

    /// `jobs` workers at once; one that is done takes the next block.
    private static func run(_ seeds: Range<UInt64>, _ jobs: Int, _ clock: ContinuousClock) async -> Total {
        await withTaskGroup(of: Total.self) { group in
            var total = Total()
            var progress = Progress(seeds.count, clock)
            var next = seeds.lowerBound
            func startNext() {
                guard next < seeds.upperBound, total.failures.count < 20 else { return }
                let block = next..<min(next + block, seeds.upperBound)
                next = block.upperBound
                group.addTask { run(block: block) }
            }
            for _ in 0..<jobs { startNext() }
            while let part = await group.next() {
                total.add(part)
                for failure in part.failures { progress.tell("seed \(failure.seed): \(failure.what)") }
                progress.show(seeds: total.seeds, sessions: total.sessions, failures: total.failures.count)
                startNext()
            }
            progress.end()
            return total
        }
    }

    private static func run(block: Range<UInt64>) -> Total {
        var total = Total()
        for seed in block {
            let outcome = SimWorld.run(seed: seed)
            total.sessions += outcome.sessions
            total.messages += outcome.messages
            total.seeds += 1
            if let failure = outcome.failure { total.failures.append(failure) }
        }
        return total
    }

    private static func replay(_ seed: UInt64) {
        let world = SimWorld(seed: seed, tracing: true)
        let what = world.play()
        for line in world.trace { print(line) }
        print(what.map { "seed \(seed): \($0)" } ?? "seed \(seed) holds")
        if what != nil { exit(1) }
    }
}
