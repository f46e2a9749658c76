@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// Queries, one `name=value` item per line.
  static let query = FuzzTarget(
    "query",
    hostile: [repeating("a=b\n"), repeating("\u{0}"), repeating("%\n"), repeating("é=\n"), repeating("a")],
    parse: { bytes in
      let query = HTTPQuery(items(of: bytes))
      _ = (query.encoded, query["a"], query.encoded.percentDecodedBytes)
    },
    check: { bytes in
      _ = String(bytes).percentDecoded
      let query = HTTPQuery(items(of: bytes))
      let text = query.encoded
      try holds(text.utf8.allSatisfy { HTTPHeaderName.isTokenByte($0) || $0 == 0x3D }, "\(text) has a delimiter")
      let read = text.split(separator: "&", omittingEmptySubsequences: false).map { part in
        let sides = part.split(separator: "=", omittingEmptySubsequences: false).map { $0.percentDecoded }
        return HTTPQuery.Item(sides[0] ?? "", sides.count == 2 ? sides[1] : nil)
      }
      try holds(read == query.items, "\(query.items) becomes \(text)")
      guard let first = query.items.first else { return }
      var changed = query
      changed[first.name] = "x"
      try holds(changed[first.name] == "x" && changed.items[0].value == "x", "\(first.name) can't be set")
      changed[first.name] = nil
      try holds(!changed.items.contains { $0.name == first.name }, "\(first.name) can't be removed")
    })

  private static func items(of bytes: [UInt8]) -> [HTTPQuery.Item] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      let sides = line.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
      return HTTPQuery.Item(String(Array(sides[0])), sides.count == 2 ? String(Array(sides[1])) : nil)
    }
  }

  /// Forms encoded from a JSON value or, if the input is not JSON, from items.
  static let form = FuzzTarget(
    "form",
    hostile: [
      repeating("a=b\n"), repeating(" "), repeating("é"), repeating("1,", after: #"{"a":["#, and: "1]}"),
      repeating(#""a","#, after: #"{"a":["#, and: "1]}"), numbering({ "\"\($0)\":1," }, between: "{", and: #""a":1}"#),
      numbering({ "\"\($0)\":[1]," }, between: #"{"a":{"#, and: #""a":1}}"#),
    ],
    parse: { bytes in
      for style in styles { _ = fields(of: bytes, style).map { FormEncoder.data($0) } }
    },
    check: { bytes in
      for style in styles {
        guard let fields = fields(of: bytes, style) else { continue }
        let read = parsed(Array(FormEncoder.data(fields)))
        let given = fields.items.map { HTTPQuery.Item($0.name, $0.value ?? "") }
        try holds(read == given, "\(given) is read as \(read)")
      }
    })

  private static let styles = [
    FormStyle(), FormStyle(nesting: .dots, lists: .commas), FormStyle(lists: .indices), FormStyle(lists: .brackets),
  ]

  /// Returns the form's fields, or `nil` if the JSON value can't be encoded.
  private static func fields(of bytes: [UInt8], _ style: FormStyle) -> HTTPQuery? {
    guard bytes.first == UInt8(ascii: "{"), let tree = try? JSONDecoder().decode(JSONTree.self, from: Data(bytes))
    else {
      return HTTPQuery(items(of: bytes))
    }
    return try? HTTPQuery(encoding: tree, style)
  }

  /// Parses a form as in §5.1 of the URL Standard.
  private static func parsed(_ bytes: [UInt8]) -> [HTTPQuery.Item] {
    bytes.split(separator: UInt8(ascii: "&")).map { part in
      let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let texts = sides.map { side in
        String(side.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }).percentDecoded ?? "?"
      }
      return HTTPQuery.Item(texts[0], texts.count == 2 ? texts[1] : "")
    }
  }
}
