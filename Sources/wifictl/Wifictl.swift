import Glibc

/// The tool's entry point: finds the command, runs it, and turns what comes of it into an exit status.
@main
struct Wifictl {
    static func main() async {
        let cancellation = CancellationSignal()
        SignalThread.start(raising: cancellation)
        let runner = Runner(cancellation: cancellation)
        let status = await runner.run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }
}
