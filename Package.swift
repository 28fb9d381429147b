// swift-tools-version: 6.3
import PackageDescription

/// Every target: warnings are errors. FrameCodec alone also needs lifetime annotations, for the views that
/// its pull face lends out of its buffer.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let strictWithLifetimes: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

/// With WIFI_PORTABLE set, the folders called Linux stay out and those called Portable come in: what a port to another system starts from
/// (docs/porting.md, `make portable`).
let isPortable = Context.environment["WIFI_PORTABLE"] != nil
let otherSystem = [isPortable ? "Linux" : "Portable"]
let linux: [Target.Dependency] = isPortable ? [] : ["CLinux"]

let package = Package(
    name: "wifi-discovery",
    products: [
        .library(name: "FrameCodec", targets: ["FrameCodec"]),
        .library(name: "SocketCore", targets: ["SocketCore"]),
        .library(name: "WifiDiscovery", targets: ["WifiDiscovery"]),
        .executable(name: "wifictl", targets: ["wifictl"]),
    ],
    dependencies: [],
    targets: (isPortable ? [] : [.systemLibrary(name: "CLinux")]) + [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(name: "FrameCodec", swiftSettings: strictWithLifetimes),
        .target(
            name: "SocketCore", dependencies: ["FrameCodec", "COpenSSL"] + linux, exclude: otherSystem, swiftSettings: strict),
        .target(
            name: "WifiDiscovery", dependencies: ["SocketCore", "FrameCodec"] + linux, exclude: otherSystem, swiftSettings: strict),
        .executableTarget(name: "wifictl", dependencies: ["WifiDiscovery", "SocketCore", "FrameCodec"], swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["WifiDiscovery", "SocketCore", "FrameCodec"], path: "Tests/Support",
            swiftSettings: strict),
        .target(
            name: "SessionSimulation", dependencies: ["SocketCore", "FrameCodec"], path: "Tests/SessionSimulation", swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["SessionSimulation", "SocketCore", "FrameCodec"], path: "Tests/Simulate", swiftSettings: strict
        ),
        .target(
            name: "SessionShaking", dependencies: ["SocketCore", "FrameCodec", "TestSupport"] + linux, path: "Tests/SessionShaking",
            swiftSettings: strict),
        .executableTarget(name: "shake", dependencies: ["SessionShaking"], path: "Tests/Shake", swiftSettings: strict),
        .executableTarget(name: "first-lines", dependencies: ["WifiDiscovery"], path: "Tests/FirstLines", swiftSettings: strict),
        .executableTarget(
            name: "company-router", dependencies: ["WifiDiscovery", "SocketCore"], path: "Tests/CompanyRouter", swiftSettings: strict),
        .executableTarget(
            name: "secret-holder", dependencies: ["SocketCore", "COpenSSL"], path: "Tests/SecretHolder", swiftSettings: strict),
        .executableTarget(name: "example-app", dependencies: ["WifiDiscovery"], path: "Tests/ExampleApp", swiftSettings: strict),
        .testTarget(name: "FrameCodecTests", dependencies: ["FrameCodec", "SocketCore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SocketCoreTests",
            dependencies: ["SocketCore", "FrameCodec", "COpenSSL", "TestSupport", "SessionSimulation", "SessionShaking", "secret-holder"],
            swiftSettings: strict),
        .testTarget(
            name: "WifiDiscoveryTests", dependencies: ["WifiDiscovery", "SocketCore", "FrameCodec", "TestSupport", "example-app"],
            swiftSettings: strict),
        .testTarget(name: "wifictlTests", dependencies: ["wifictl", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "LANTests", dependencies: ["WifiDiscovery", "SocketCore", "FrameCodec", "TestSupport", "first-lines", "company-router"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
