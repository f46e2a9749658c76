/// The paths of hidden JSON values, relative to the current container.
struct SecretPlaces: Sendable, Equatable {
  private var paths: [ArraySlice<[UInt8]>]

  init(_ paths: Set<String>) {
    self.paths = paths.map { path in
      path.split(separator: ".", omittingEmptySubsequences: false).map { SecretNames.folded($0.utf8) }[...]
    }
  }

  var isEmpty: Bool { paths.isEmpty }

  /// Whether a path ends here.
  var isReached: Bool { paths.contains(where: \.isEmpty) }

  /// Returns the remaining paths inside the member with this name.
  func within(_ name: String) -> SecretPlaces {
    let name = SecretNames.folded(name.utf8)
    var places = self
    places.paths = paths.compactMap { path in
      path.first.map { $0 == name || $0 == Self.anyName } == true ? path.dropFirst() : nil
    }
    return places
  }

  mutating func add(_ others: SecretPlaces) {
    for path in others.paths where !paths.contains(path) { paths.append(path) }
  }

  private static let anyName = Array("*".utf8)
}
