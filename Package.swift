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
    // Apart from ErrandTesting, which programs can link: a program that links Swift Testing can't be linked statically.
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

    // All test targets are one program, so one dependency is enough.
    .target(name: "TestSettings", path: "Tests/TestSettings", cSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ErrandTests", dependencies: ["Errand", "ErrandTesting", "ErrandTestingTraits", "TestSettings"]),
    // These have the fixtures of ErrandTests, through a link to the folder.
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

// `.ci/sanitizers part` compiles only what it tests.
if let kept = Context.environment["ERRAND_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
}

// On Apple platforms what is about URLSession is a part of `Errand`; elsewhere it is a product of its own, for it brings
// FoundationNetworking and ICU along. Both targets have the same folder of sources.
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
