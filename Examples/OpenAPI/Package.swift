// swift-tools-version: 6.2
import PackageDescription

// What sends the operations of clients that swift-openapi-generator makes through Errand. It is a package of its own, for neither Errand
// nor the bridges depend on swift-openapi-runtime.

// The settings are those of Errand's own manifest.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),  // SE-0480
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
]

let errand: Target.Dependency = .product(name: "Errand", package: "errand")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let runtime: Target.Dependency = .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime")

let package = Package(
  name: "errand-openapi",
  platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [.library(name: "ErrandOpenAPI", targets: ["ErrandOpenAPI"])],
  dependencies: [
    .package(name: "errand", path: "../.."),
    .package(name: "errand-bridges", path: "../Bridges"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "ErrandOpenAPI",
      dependencies: [errand, httpTypes, runtime, .product(name: "ErrandHTTPTypes", package: "errand-bridges")]),
    .testTarget(
      name: "OpenAPITests",
      dependencies: [
        "ErrandOpenAPI", errand, httpTypes, runtime, .product(name: "ErrandTesting", package: "errand"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets { target.swiftSettings = settings }
