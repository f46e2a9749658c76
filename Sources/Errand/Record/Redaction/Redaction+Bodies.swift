public import ErrandFoundation

// Bodies, as people see them.
extension Redaction {
  /// A body for people to read: as text where its type is one, the values of secret names hidden; a placeholder for
  /// anything else, and for a body of more than `limit` bytes.
  public func body(_ data: Data, type: MediaType?, limit: Int) -> String {
    recorded(data, type: type, limit: limit).shown
  }

  /// True when the bodies of this media type are shown nowhere.
  func hidesBody(of type: MediaType?) -> Bool {
    guard !types.isEmpty else { return false }
    let essence = type?.essence ?? ""
    return types.contains(essence) || types.contains("\(essence.prefix { $0 != "/" })/*") || types.contains("*/*")
  }

  /// A body as text; nil where it is none, or is hidden.
  func text(of data: Data, type: MediaType?) -> String? {
    guard type?.isText ?? true, !hidesBody(of: type) else { return nil }
    if places.isEmpty, data.withUnsafeBytes({ names.clears($0) }) { return String(decoding: data, as: UTF8.self) }
    guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
    return inFull(body: text, type)
  }

  /// The beginning of a body on one line, at most `count` characters of it; empty if it is not text, or is hidden.
  package func excerpt(of data: Data, type: MediaType?, count: Int) -> String {
    guard type?.isText ?? true, !hidesBody(of: type) else { return "" }
    // A name stands before its value, so that the part can be redacted without the rest; four bytes are a character.
    let part = data.prefix(count * 16)
    guard !part.contains(0) else { return "" }  // of another charset, whose names would not be known
    guard let text = (0..<4).lazy.compactMap({ String(data: part.dropLast($0), encoding: .utf8) }).first else {
      return ""
    }
    return line(inFull(body: text, type), count: count)
  }

  /// Text on one line, at most `count` characters of it.
  func line(_ text: String, count: Int) -> String {
    let line = text.onOneLine.split { $0.isWhitespace }.joined(separator: " ")
    return line.count > count ? line.prefix(count) + "…" : line
  }

  /// A body with its secrets hidden.
  func inFull(body text: String, _ type: MediaType?) -> String {
    // JSON may be sent under the name of a form, as `curl -d` does.
    if type?.essence == MediaType.form.rawValue, !text.beginsAsJSON { return pairs(text[...]) }
    guard !names.isEmpty || !places.isEmpty else { return text }
    var json = JSONRedactor(text, self)
    return shown(json.redacted(), depth: 0)
  }

  /// The text in place of a body that is too large.
  static func placeholder(for count: Int, over limit: Int) -> String {
    "<\(count) bytes, more than the \(limit) that are logged>"
  }

  /// The text in place of a body that is no text.
  static func placeholder(for count: Int, of type: MediaType?) -> String {
    "<\(count) bytes of \(type?.essence ?? "data")>"
  }

  /// The text in place of a body that is hidden by its type.
  static func placeholder(hiding count: Int, of type: MediaType?) -> String {
    "<\(count) bytes of \(type?.essence ?? "data"), which the redaction hides>"
  }
}
