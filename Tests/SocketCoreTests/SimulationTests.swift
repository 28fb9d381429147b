import SessionSimulation
import SocketCore
import Testing

@Suite("simulation")
struct SimulationTests {
    /// Fixed seeds, so that a red test is red for the one who looks into it; `make simulate` runs new ones.
    @Test("all invariants hold over seeds", arguments: 0..<8)
    func seeds(block: UInt64) {
        for seed in block * 13..<block * 13 + 13 {
            if let failure = SimWorld.run(seed: seed).failure {
                Issue.record("\(failure)")
                return
            }
        }
    }

    #if DEBUG
        /// A simulator that finds nothing proves nothing: each of these faults, built into the core, must be found.
        @Test("a mutated core is caught", arguments: SimMutant.all)
        func mutants(mutant: SimMutant) {
            let caught = mutant.firstCatch()
            #expect(caught != nil, "\(mutant) wasn't caught by \(mutant.seeds) seeds")
        }
    #endif
}
