// swift-tools-version: 6.2
import PackageDescription

// Connects Errand with other packages. This is a separate package because Errand has no dependencies.

// The settings are the same as in Errand's manifest.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),  // SE-0480
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
]

let errand: Target.Dependency = .product(name: "Errand", package: "errand")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
  name: "errand-bridges",
  platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [
    .library(name: "ErrandLogging", targets: ["ErrandLogging"]),
    .library(name: "ErrandMetrics", targets: ["ErrandMetrics"]),
    .library(name: "ErrandTracing", targets: ["ErrandTracing"]),
    .library(name: "ErrandHTTPTypes", targets: ["ErrandHTTPTypes"]),
  ],
  dependencies: [
    .package(name: "errand", path: "../.."),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
  ],
  targets: [
    .target(name: "ErrandLogging", dependencies: [errand, logging]),
    .target(name: "ErrandMetrics", dependencies: [errand, metrics]),
    .target(name: "ErrandTracing", dependencies: [errand, tracing]),
    .target(name: "ErrandHTTPTypes", dependencies: [errand, httpTypes]),
    .testTarget(
      name: "BridgesTests",
      dependencies: [
        "ErrandLogging", "ErrandMetrics", "ErrandTracing", "ErrandHTTPTypes",
        errand, logging, metrics, tracing, httpTypes,
        .product(name: "ErrandTesting", package: "errand"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets { target.swiftSettings = settings }
