public import ErrandFoundation

extension Redaction {
  /// Returns a body for display. In text, the values of secret names are hidden. Binary data, and bodies larger than
  /// `limit` bytes, are replaced by a placeholder.
  public func body(_ data: Data, type: MediaType?, limit: Int) -> String {
    recorded(data, type: type, limit: limit).shown
  }

  package func hidesBody(of type: MediaType?) -> Bool {
    guard !types.isEmpty else { return false }
    let essence = type?.essence ?? ""
    return types.contains(essence) || types.contains("\(essence.prefix { $0 != "/" })/*") || types.contains("*/*")
  }

  /// Returns the body as text, or `nil` if it is binary or hidden.
  package func text(of data: Data, type: MediaType?) -> String? {
    guard type?.isText ?? true, !hidesBody(of: type) else { return nil }
    if places.isEmpty, data.withUnsafeBytes({ names.clears($0) }) { return String(decoding: data, as: UTF8.self) }
    guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
    return inFull(body: text, type)
  }

  /// Returns the beginning of a body on one line, up to `count` characters. Empty if the body is binary or hidden.
  package func excerpt(of data: Data, type: MediaType?, count: Int) -> String {
    guard type?.isText ?? true, !hidesBody(of: type) else { return "" }
    // A prefix can be redacted on its own because names come before values. A character has at most four bytes.
    let part = data.prefix(count * 16)
    guard !part.contains(0) else { return "" }  // another charset, in which names are not recognized
    guard let text = (0..<4).lazy.compactMap({ String(data: part.dropLast($0), encoding: .utf8) }).first else {
      return ""
    }
    return line(inFull(body: text, type), count: count)
  }

  func line(_ text: String, count: Int) -> String {
    let line = text.onOneLine.split { $0.isWhitespace }.joined(separator: " ")
    return line.count > count ? line.prefix(count) + "…" : line
  }

  func inFull(body text: String, _ type: MediaType?) -> String {
    // JSON may be labelled as a form, as with `curl -d`.
    if type?.essence == MediaType.form.rawValue, !text.beginsAsJSON { return pairs(text[...]) }
    guard !names.isEmpty || !places.isEmpty else { return text }
    var json = JSONRedactor(text, self)
    return shown(json.redacted(), depth: 0)
  }

  package static func placeholder(for count: Int, over limit: Int) -> String {
    "<\(count) bytes, over the limit of \(limit)>"
  }

  static func placeholder(for count: Int, of type: MediaType?) -> String {
    "<\(count) bytes of \(type?.essence ?? "data")>"
  }

  static func placeholder(hiding count: Int, of type: MediaType?) -> String {
    "<\(count) bytes of \(type?.essence ?? "data"), hidden by the redaction>"
  }
}
