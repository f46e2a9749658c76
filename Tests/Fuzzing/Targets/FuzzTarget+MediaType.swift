@testable import Errand

extension FuzzTarget {
  /// Media types and their parameters.
  static let mediaType = FuzzTarget(
    "mediaType",
    hostile: [
      repeating(";"), repeating("; a=b", after: "text/html"), numbering({ "; a\($0)=\"b\"" }, between: "text/html"),
      repeating("\\\"", after: "text/html; a=\""), repeating(" ", after: "text/html"), repeating(" ", after: "a/b;c="),
      repeating("a/b,"), repeating("a/b;c=\"\\\",", after: "a/b;charset=d,"), numbering({ "a/b;c\($0)=d," }),
    ],
    parse: { bytes in
      let type = MediaType(String(bytes))
      _ = (type.essence, type.parameter("charset"), type.isText, type.preferredExtension, type.normalized)
      _ = MediaType.extracted(from: type.rawValue)
    },
    check: { bytes in
      let type = MediaType(String(bytes))
      let essence = type.essence
      try holds(
        essence == essence.lowercased() && essence[...].trimmingHTTPSpaces() == essence, "\(essence.debugDescription)")
      try holds(!essence.utf8.contains(UInt8(ascii: ";")), "\(essence.debugDescription) has parameters")
      let parameters = type.parameters
      var text = essence
      for (name, value) in parameters { text += "; \(name)=\(value.quoted)" }
      let again = MediaType(text)
      if let normalized = type.normalized {
        try holds(normalized.normalized == normalized, "\(normalized) changes when normalized again")
        try holds(normalized.essence == essence, "\(normalized) has another essence")
        for (name, value) in parameters {
          try holds(normalized.parameter(name) == value, "\(normalized) has another \(name)")
        }
        let twice = MediaType.extracted(from: "\(normalized), \(normalized)")
        try holds(
          essence == "*/*" ? twice == nil : twice == normalized,
          "\(normalized) normalized again becomes \(twice as Any)")
      }
      try holds(again.essence == essence, "\(text.debugDescription) is parsed as another type")
      for (name, _) in parameters {
        try holds(HTTPHeaderName(name).isValid, "\(name.debugDescription) is not a valid name")
        try holds(type.parameter(name.uppercased()) == type.parameter(name), "\(name) is case-sensitive")
        try holds(again.parameter(name) == type.parameter(name), "\(text.debugDescription) has another \(name)")
      }
      if let known = type.preferredExtension {
        try holds(
          MediaType(fileExtension: known)?.preferredExtension == known,
          "\(known) is not the preferred extension of its type")
      }
    })
}
