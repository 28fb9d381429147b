import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// The drawing of `bench --plot`.
struct BenchPlotTests {
    private func figure(_ name: String, _ samples: [Double], ratio: Double? = nil, unit: String = "ns/frame") -> Benchmark.Figure {
        Benchmark.Figure(
            name: name, parameters: [.init("body", 16), .init("face", "<&>")], value: samples[0], unit: unit, samples: samples, ratio: ratio
        )
    }

    @Test func `the spread leaves out the outliers that a busy machine makes`() throws {
        let spread = try #require(BenchPlot.Spread((1...101).map(Double.init) + [1e9, -3, .nan, .infinity]))
        #expect(spread.median == 51.5 && spread.low == 6 && spread.quarter == 26 && spread.high == 97)
        #expect(BenchPlot.Spread([]) == nil && BenchPlot.Spread([0]) == nil)
    }

    @Test func `a figure stands with its reference, in one panel a unit`() {
        let plot = BenchPlot([
            figure("decodeReference", [2, 3]), figure("decode", [4, 6], ratio: 2), figure("tls", [9e3], unit: "handshakes/s"),
        ])
        #expect(plot.panels.map(\.unit) == ["ns/frame", "handshakes/s"])
        #expect(plot.panels[0].rows.count == 1 && plot.panels[0].rows[0].reference?.median == 2.5)
        let svg = plot.svg(made: "today")
        #expect(svg.contains("decode 16 &lt;&amp;&gt;") && svg.contains("5, 2× C") && svg.contains("class=\"referenceMedian\""))
        #expect(!svg.replacing("http://www.w3.org/2000/svg", with: "").contains("http"))
    }

    @Test(arguments: [(1.0, 1.0), (2.4, 3.1), (0.004, 12), (1, 1e7)])
    func `a logarithmic axis holds its values between round steps`(least: Double, most: Double) {
        let scale = LogScale(least, most)
        #expect((0...1).contains(scale.place(least)) && (0...1).contains(scale.place(most)) && (1...11).contains(scale.ticks.count))
        #expect(least == most || scale.place(least) < scale.place(most))
        for value in [0.001, 1, 2, 10, 12_345.678] { #expect(abs(LogScale.logarithm(value) - log2(value)) < 1e-6) }
    }

    @Test func `the tool draws what it measures`() async throws {
        let scratch = try TemporaryDirectory()
        let result = try await BuiltTool.run(["bench", "encode", "--for", "10ms", "--plot", scratch.file("encode.svg")])
        #expect(result.status == 0 && result.errorText.contains("are drawn in"), "\(result.errorText)")
        let svg = try String(contentsOfFile: scratch.file("encode.svg"), encoding: .utf8)
        #expect(svg.contains("encode 65536 span") && svg.contains("ns/frame"))
        // It's XML: any viewer takes it.
        let check = ["python3", "-c", "import sys, xml.dom.minidom as m; m.parseString(sys.stdin.buffer.read())"]
        #expect(try await runCommand(check, input: Array(svg.utf8)).status == 0)
    }
}
