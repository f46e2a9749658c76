// swift-tools-version: 6.2
import PackageDescription

// Every target has the same settings; each feature is named after its Swift Evolution proposal.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),  // SE-0480
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
]

// On Linux the thread sanitizer does not see the lock of `Synchronization`, and reports races that are none. With this
// in the environment, the library has another.
let lockSettings: [SwiftSetting] =
  Context.environment["ERRAND_SANITIZES_THREADS"] == nil ? [] : [.define("SANITIZES_THREADS")]

let package = Package(
  name: "errand",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "Errand", targets: ["Errand"]),
    .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
    .executable(name: "errand-tour", targets: ["errand-tour"]),
    .executable(name: "errand-bench", targets: ["errand-bench"]),
  ],
  targets: [
    .target(name: "CCurl", cSettings: [.treatAllWarnings(as: .error)]),
    .target(name: "Errand", dependencies: ["CCurl"], resources: [.copy("PrivacyInfo.xcprivacy")]),
    .target(name: "ErrandTesting", dependencies: ["Errand"]),

    .executableTarget(name: "errand-tour", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Tour"),
    .executableTarget(name: "errand-bench", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Benchmark"),
    .target(name: "Snippets", dependencies: ["Errand", "ErrandTesting"], path: "Examples/Snippets"),

    .testTarget(name: "ErrandTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(name: "ErrandTestingTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(name: "JourneyTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(name: "RealServerTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(name: "MainActorAppTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(name: "Fuzzing", path: "Tests/Fuzzing", exclude: ["Peer"]),
    .testTarget(name: "CurlHeaderTests", dependencies: ["CCurl"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "CCurl" {
  target.swiftSettings = settings + (target.name == "Errand" ? lockSettings : [])
}
for target in package.targets where target.name == "MainActorAppTests" {
  target.swiftSettings = settings + [.defaultIsolation(MainActor.self)]  // SE-0466
}
