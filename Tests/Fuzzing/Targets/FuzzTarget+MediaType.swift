@testable import Errand

extension FuzzTarget {
  /// Media types and their parameters.
  static let mediaType = FuzzTarget(
    "mediaType",
    hostile: [
      repeating(";"), repeating("; a=b", after: "text/html"), numbering({ "; a\($0)=\"b\"" }, between: "text/html"),
      repeating("\\\"", after: "text/html; a=\""), repeating(" ", after: "text/html"), repeating(" ", after: "a/b;c="),
    ],
    parse: { bytes in
      let type = MediaType(String(bytes))
      _ = (type.essence, type.parameter("charset"), type.isText, type.preferredExtension)
    },
    check: { bytes in
      let type = MediaType(String(bytes))
      let essence = type.essence
      try holds(
        essence == essence.lowercased() && essence[...].trimmingSpaces() == essence, "\(essence.debugDescription)")
      try holds(!essence.utf8.contains(UInt8(ascii: ";")), "\(essence.debugDescription) has parameters")
      var scanner = FieldScanner(type.rawValue)
      _ = scanner.text(before: UInt8(ascii: ";"))
      let parameters = scanner.parameters()
      var text = essence
      for (name, value) in parameters { text += "; \(name)" + (value.map { "=\($0.quoted)" } ?? "") }
      let again = MediaType(text)
      try holds(again.essence == essence, "\(text.debugDescription) is another type")
      for (name, _) in parameters {
        try holds(HTTPHeaderName(name).isValid, "\(name.debugDescription) is no name")
        try holds(type.parameter(name.uppercased()) == type.parameter(name), "\(name) depends on its case")
        try holds(again.parameter(name) == type.parameter(name), "\(text.debugDescription) has another \(name)")
      }
      if let known = type.preferredExtension {
        try holds(MediaType(fileExtension: known)?.preferredExtension == known, "\(known) is of another type")
      }
    })
}
