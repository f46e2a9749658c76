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

// On Linux, the thread sanitizer doesn't recognize the lock of `Synchronization` and reports false races. With this
// environment variable, the library uses a different lock.
let lockSettings: [SwiftSetting] =
  Context.environment["ERRAND_SANITIZES_THREADS"] == nil ? [] : [.define("SANITIZES_THREADS")]

let apple: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]

let package = Package(
  name: "errand",
  platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [
    .library(name: "Errand", targets: ["Errand"]),
    .library(name: "ErrandTransfers", targets: ["ErrandTransfers"]),
    .library(name: "ErrandInspection", targets: ["ErrandInspection"]),
    .library(name: "ErrandURLSession", targets: ["ErrandURLSession"]),
    .library(name: "ErrandTesting", targets: ["ErrandTesting", "ErrandTestingTraits"]),
    .executable(name: "errand-tour", targets: ["errand-tour"]),
    .executable(name: "errand-bench", targets: ["errand-bench"]),
  ],
  traits: [.trait(name: "LinkedCurl", description: "Links libcurl on Linux instead of loading it at run time.")],
  targets: [
    .target(
      name: "CCurl",
      cSettings: [.treatAllWarnings(as: .error), .define("ERRAND_LINKED_CURL", .when(traits: ["LinkedCurl"]))],
      linkerSettings: [.linkedLibrary("curl", .when(platforms: [.linux], traits: ["LinkedCurl"]))]),
    .target(name: "ErrandFoundation"),
    .target(name: "ErrandPrivacy", resources: [.copy("PrivacyInfo.xcprivacy")]),
    .target(
      name: "Errand",
      dependencies: ["CCurl", "ErrandFoundation", .target(name: "ErrandPrivacy", condition: .when(platforms: apple))]),
    .target(name: "ErrandTransfers", dependencies: ["Errand", "ErrandFoundation"]),
    .target(name: "ErrandInspection", dependencies: ["Errand", "ErrandFoundation"]),
    .target(name: "ErrandURLSession", dependencies: ["Errand"]),
    .target(name: "ErrandTesting", dependencies: ["Errand", "ErrandFoundation"]),
    // Separate from ErrandTesting, because a program that links Swift Testing can't be linked statically.
    .target(name: "ErrandTestingTraits", dependencies: ["ErrandFoundation", "ErrandTesting"]),

    .executableTarget(
      name: "errand-tour", dependencies: ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandTesting"],
      path: "Examples/Tour"),
    .executableTarget(
      name: "errand-bench",
      dependencies: ["Errand", "ErrandFoundation", "ErrandTransfers", "ErrandInspection", "ErrandTesting"],
      path: "Examples/Benchmark"),
    .target(
      name: "Snippets",
      dependencies: ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandURLSession", "ErrandTesting"],
      path: "Examples/Snippets"),

    // All test targets are linked into one program, so one dependency is enough.
    .target(name: "TestSettings", path: "Tests/TestSettings", cSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ErrandTests", dependencies: ["Errand", "ErrandTesting", "ErrandTestingTraits", "TestSettings"]),
    // These share the fixtures of ErrandTests through a symbolic link.
    .testTarget(name: "ErrandTransfersTests", dependencies: ["Errand", "ErrandTransfers", "ErrandTesting"]),
    .testTarget(name: "ErrandInspectionTests", dependencies: ["Errand", "ErrandInspection", "ErrandTesting"]),
    .testTarget(name: "ErrandURLSessionTests", dependencies: ["Errand", "ErrandURLSession", "ErrandTesting"]),
    .testTarget(name: "ErrandTestingTests", dependencies: ["Errand", "ErrandTesting", "ErrandTestingTraits"]),
    .testTarget(
      name: "JourneyTests", dependencies: ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandTesting"]),
    .testTarget(
      name: "RealServerTests",
      dependencies: ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandTesting", "Snippets"]),
    .testTarget(name: "MainActorAppTests", dependencies: ["Errand", "ErrandTesting"]),
    .testTarget(
      name: "Fuzzing", dependencies: ["Errand"], path: "Tests/Fuzzing", exclude: ["Corpus", "Entry", "Peer"]),
    .testTarget(name: "CurlHeaderTests", dependencies: ["CCurl"]),
  ],
  swiftLanguageModes: [.v6]
)

// `.ci/sanitizers part` compiles only the targets that it tests.
if let kept = Context.environment["ERRAND_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
}

// On Apple platforms, the URLSession transport is part of `Errand`. On other platforms it is a separate product, because it
// loads FoundationNetworking and ICU. Both targets use the same source folder.
let ownSettings: [String: [SwiftSetting]] = [
  "Errand": lockSettings + [.define("HAS_URLSESSION", .when(platforms: apple))],
  "ErrandURLSession": [.define("HAS_URLSESSION", .when(platforms: [.linux]))],
]

for target in package.targets where !["CCurl", "TestSettings"].contains(target.name) {
  target.swiftSettings = settings + (ownSettings[target.name] ?? [])
}
for target in package.targets where target.name == "MainActorAppTests" {
  target.swiftSettings = settings + [.defaultIsolation(MainActor.self)]  // SE-0466
}
