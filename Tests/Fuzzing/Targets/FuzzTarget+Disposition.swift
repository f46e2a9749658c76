@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// `Content-Disposition` and the file names derived from it.
  static let disposition = FuzzTarget(
    "disposition",
    hostile: [
      repeating(";a=b", after: "attachment"), numbering({ ";a\($0)=b" }, between: "attachment"),
      repeating("%2F", after: "attachment;filename*=UTF-8''"), repeating(" ", after: "a;filename=\""),
      repeating("../", after: "attachment; filename=\"", and: "\""), repeating(".", after: "a;filename=\"", and: "\""),
      repeating("\u{301}", after: "a;filename=\"a", and: "\""), repeating("a", after: "a;filename=\"", and: "\""),
      repeating("=?a?q?", after: "a;filename="), repeating("=?utf-8?q?a?= ", after: "a;filename=\"", and: "\""),
      repeating(";a=\"", after: "a"), repeating("x ", after: "a"), repeating("'", after: "a;filename*="),
      { size in
        let segments = (0..<max(1, size / 16)).map { ";filename*\($0)*=%41" }
        return Array(("a" + segments.joined()).utf8)
      },
    ],
    parse: { bytes in _ = name(of: String(bytes)) },
    check: { bytes in
      let text = String(bytes)
      try checkName(name(of: text))
      if let name = SafeFileName.make(text) {
        try checkName(name)
        try holds(SafeFileName.make(name) == name, "\(name.debugDescription) is changed again")
      }
      guard let read = ContentDisposition(text) else { return }
      var written = read.type
      for (name, value) in read.parameters { written += "; \(name)=\(value.quoted)" }
      try holds(ContentDisposition(written) == read, "\(read), written again, becomes \(written.debugDescription)")
      try holds(read.type.isEmpty || HTTPHeaderName(read.type).isValid, "\(read.type.debugDescription) is not a type")
      let names = read.parameters.keys
      try holds(names.allSatisfy { HTTPHeaderName($0).isValid }, "\(names) are not all valid names")
    })

  private static func name(of disposition: String) -> String {
    guard let url = URL(string: "https://base.test/a/b") else { return "" }
    return HTTPResponse(url: url, headers: [.contentDisposition: disposition, .contentType: "text/html"])
      .suggestedFileName
  }

  /// Checks Unicode scalars, because a single character can combine a slash with an accent.
  private static func checkName(_ name: String) throws {
    let scalars = Array(name.unicodeScalars)
    try holds(!scalars.isEmpty && name.utf8.count <= 200, "\(name.debugDescription) has \(name.utf8.count) bytes")
    try holds(
      !scalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 },
      "\(name.debugDescription) contains a separator or control character")
    for end in [scalars.first, scalars.last] {
      try holds(end != "." && end != " ", "\(name.debugDescription) ends in a period or a space")
    }
  }
}
