import ErrandFoundation

extension TaskPlan {
  /// Returns a description for use before the request is built: the task's name, or the redacted method and path of an
  /// unnamed endpoint.
  func describedTask(_ redaction: Redaction) -> String {
    guard name == nil, TaskSpelling.isOurs(task), let words = (task as? any CustomStringConvertible)?.description else {
      return taskName
    }
    return redaction(text: words).shortened
  }

  /// Whether any of the patterns matches the task. A pattern is `*`, a task name, a type name with or without generic
  /// arguments, a host, or a path such as `/widgets/*`.
  func isMeant(by words: Set<String>) -> Bool {
    let (name, type) = (taskName, TypeName.of(type(of: task)))
    if ["*", name, type, String(type.prefix { $0 != "<" })].contains(where: words.contains) { return true }
    if let host, words.contains(where: { $0.lowercased() == host }) { return true }
    let patterns = words.filter { $0.hasPrefix("/") }
    guard !patterns.isEmpty, let path else { return false }
    return patterns.contains { path.matches($0) }
  }

  /// The task's URL, if the task sets a complete URL.
  private var wholeURL: URL? {
    (task as? URLTask)?.url
      ?? (try? task.plannedPath).flatMap { path in
        path.contains("://") ? URL(string: path).flatMap { Origin($0) == nil ? nil : $0 } : nil
      }
  }

  private var host: String? { (wholeURL ?? server.remote.url).flatMap { Origin($0)?.host } }

  /// The path relative to the remote, with a leading slash. If the task sets a complete URL, this is the URL's path.
  private var path: String? {
    if let wholeURL { return wholeURL.path }
    return (try? task.plannedPath).map { "/\($0.prefix { $0 != "?" }.drop { $0 == "/" })" }
  }
}

extension String {
  /// Whether the string matches `pattern`, in which `*` stands for any sequence of characters.
  fileprivate func matches(_ pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, hasPrefix(parts[0]) else { return self == pattern }
    var rest = dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let place = rest.firstRange(of: part) else { return false }
      rest = rest[place.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}
