import SessionSimulation

/// Runs the session simulator: `simulate [SEEDS] [FIRST]`, or `simulate --seed N` for one seed with its whole trace.
@main
enum Simulate {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--seed", arguments.count > 1, let seed = UInt64(arguments[1]) { return replay(seed) }
        let count = arguments.first.flatMap { UInt64($0) } ?? 2_000
        let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? UInt64.random(in: 0...1 << 40)
        print("simulating \(count) worlds, seeds \(first)...\(first + count - 1)")
        let clock = ContinuousClock()
        let start = clock.now
        var sessions = 0
        var failures = 0
        for seed in first..<first + count {
            let result = SimWorld.run(seed: seed)
            sessions += result.sessions
            guard let failure = result.failure else { continue }
            failures += 1
            if failures == 1 { print(failure) } else { print("seed \(seed): \(failure.what)") }
            if failures == 20 { break }
        }
        let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
        print("\(sessions) sessions in \(seconds) s, \(Int(Double(sessions) / max(seconds, 0.001))) a second; \(failures) seeds failed")
        if failures > 0 { exitWithFailure() }
    }

    private static func replay(_ seed: UInt64) {
        let world = SimWorld(seed: seed, tracing: true)
        let what = world.play()
        for line in world.trace { print(line) }
        print(what.map { "seed \(seed): \($0)" } ?? "seed \(seed) holds")
        if what != nil { exitWithFailure() }
    }
}
