import ErrandFoundation

/// Finds stored properties that look like task settings but are ignored.
///
/// A property that has the wrong type or name, or is lazy, does not satisfy the protocol's requirement, so the compiler
/// silently uses the default. Debug builds log such properties once per task type.
package enum TaskSpelling {
  /// The requirements that accept exactly one type. If a requirement accepts several types (see `spelled`), a wrong
  /// type is a compile error.
  private static let types: [String: Any.Type] = [
    "server": Server.self, "httpMethod": HTTPMethod.self, "timeouts": Timeouts.self, "retryPolicy": RetryPolicy.self,
    "idempotency": Idempotency.self, "priority": CallPriority.self, "serialQueue": SerialQueue.self,
    "hedging": Hedging.self, "redirectPolicy": RedirectPolicy.self, "addressPolicy": AddressPolicy.self,
    "authentication": Authentication.self, "cookiePolicy": CookiePolicy.self, "cachePolicy": CachePolicy.self,
    "acceptedStatuses": AcceptedStatuses.self, "taskTag": String.self, "comment": String.self,
    "context": TaskContext.self, "echoStyle": EchoStyle.self, "recordingStyle": RecordingStyle.self,
  ]
  private static let spelled = [
    "path", "query", "headers", "parameters", "timeout", "encoder", "decoder", "payloadPath", "url",
    "gzipUploadThreshold",
  ]

  /// The names of modifiers whose argument has its own type, and the requirements that they set.
  private static let modifiers: [String: (requirement: String, type: Any.Type)] = [
    "deadline": ("timeouts", Duration.self), "cookies": ("cookiePolicy", CookiePolicy.self),
    "redirects": ("redirectPolicy", RedirectPolicy.self), "caching": ("cachePolicy", CachePolicy.self),
    "addresses": ("addressPolicy", AddressPolicy.self), "accepting": ("acceptedStatuses", AcceptedStatuses.self),
    "retry": ("retryPolicy", RetryPolicy.self), "authenticated": ("authentication", Authentication.self),
  ]

  /// The types of the server's settings by name. Short names, such as `disabled`, may belong to the app.
  private static let serverSettings: [String: Any.Type] = Dictionary(
    Mirror(reflecting: ServerConfiguration()).children.compactMap { property in
      property.label.flatMap { $0.utf8.count < 9 ? nil : ($0, type(of: property.value)) }
    }, uniquingKeysWith: { first, _ in first })

  /// Body properties, which are only used if the task conforms to the corresponding protocol.
  private static let bodies = [
    "uploadPayload": "PayloadUploadingTask", "uploadData": "DataUploadingTask", "uploadFile": "FileUploadingTask",
    "uploadForm": "MultipartUploadingTask",
  ]

  private static let reported = Lock<Set<ObjectIdentifier>>([])

  /// Logs problems with a task, once per task type.
  static func log(_ task: any ServerTask, to output: LogOutput) {
    let type = ObjectIdentifier(type(of: task))
    guard reported.withLock({ $0.insert(type).inserted }) else { return }
    for problem in problems(of: task) { output.write(problem) }
  }

  /// Returns a message for each stored property that is ignored.
  package static func problems(of task: any ServerTask, ignoring others: Set<String> = []) -> [String] {
    var mirror: Mirror? = Mirror(reflecting: task)
    // An enum's children are associated values, not properties.
    guard mirror?.displayStyle != .enum else { return [] }
    var problems = overridden(in: mirror).map { "\(Swift.type(of: task)).\($0)" }
    while let properties = mirror?.children {
      problems += properties.compactMap { property in
        guard let label = property.label, !others.contains(label) else { return nil }
        return problem(label, property.value, of: task).map { "\(Swift.type(of: task)).\($0)" }
      }
      mirror = mirror?.superclassMirror
    }
    return problems
  }

  /// Returns a message for each property that only a subclass declares. The compiler ignores it because the base class
  /// satisfies the requirement.
  private static func overridden(in mirror: Mirror?) -> [String] {
    var (mirror, problems) = (mirror, [String]())
    while let subclass = mirror, let base = subclass.superclassMirror, base.subjectType is any ServerTask.Type {
      problems += subclass.children.compactMap(\.label).filter { types[$0] != nil || spelled.contains($0) }.map {
        "\($0) is ignored because \(base.subjectType) conforms to ServerTask but does not declare it: declare it in \(base.subjectType) and override it"
      }
      mirror = base
    }
    return problems
  }

  private static func problem(_ label: String, _ value: Any, of task: any ServerTask) -> String? {
    let lazyMark = "$__lazy_storage_$_"
    if label.hasPrefix(lazyMark) {
      let name = String(label.dropFirst(lazyMark.count))
      guard types[name] != nil || spelled.contains(name) else { return nil }
      return "\(name) is ignored because it is lazy: make it a computed property"
    }
    let type = Swift.type(of: value)
    if let expected = expected(label, of: task) {
      guard type == expected else { return "\(label) is ignored because its type is \(type), not \(expected)" }
      return label == "url" ? shadowed(byURLOf: task) : nil
    }
    if let marker = bodies[label], !(task is any UploadingTask) {
      return "\(label) is ignored because the task does not conform to \(marker)"
    }
    if label == "uploadPayload", let task = task as? any PayloadUploadingTask, type != NoContent.self,
      hasNoContent(task)
    {
      return "\(label) is ignored because the task's UploadPayload is NoContent: change it to \(type)"
    }
    if let (requirement, expected) = modifiers[label], expected == type, !isStated(requirement, by: task) {
      return "\(label) is ignored: ServerTask has no property '\(label)'. Did you mean \(requirement)?"
    }
    // The property may be used by a computed requirement.
    if serverSettings[label] == type, !isStated("headers", by: task), !isStated("timeout", by: task) {
      return
        "\(label) is ignored: it is a setting of the server, not of a task. Set it in Server(…) { $0.\(label) = … }"
    }
    // A leading underscore marks the backing storage of a computed property.
    guard !spelled.contains(label), !label.hasPrefix("_"), let aspect = neighbour(of: label, value, in: task),
      !isStated(aspect, by: task)
    else { return nil }
    return "\(label) is ignored: ServerTask has no property '\(label)'. Did you mean \(aspect)?"
  }

  private static func hasNoContent<Task: PayloadUploadingTask>(_ task: Task) -> Bool {
    Task.UploadPayload.self == NoContent.self
  }

  /// Returns a message if a custom `url` ignores the query or path. The default `url` uses both.
  private static func shadowed(byURLOf task: any ServerTask) -> String? {
    let shadowed =
      (try? task.plannedQuery.isEmpty) == false ? "query" : (try? task.plannedPath.isEmpty) == false ? "path" : nil
    return shadowed.map { "\($0) is ignored because the task declares its own url: include the \($0) in that URL" }
  }

  private static func expected(_ label: String, of task: any ServerTask) -> Any.Type? {
    switch label {
    case "url": URL.self
    case "uploadType" where task is any UploadingTask: MediaType.self
    default: types[label]
    }
  }

  /// Whether the task implements this requirement. If so, no other property can be a misspelling of it.
  private static func isStated(_ aspect: String, by task: any ServerTask) -> Bool {
    switch aspect {
    case "path": (try? task.plannedPath.isEmpty) != true
    case "query": (try? task.plannedQuery.isEmpty) != true
    case "headers": (try? task.plannedHeaders.isEmpty) != true
    case "timeout": task.plannedTimeout != .inherited
    case "comment": !task.comment.isEmpty
    case "parameters": task.plannedParameters != nil
    case "encoder": !task.plannedEncoder.isInherited
    case "decoder": !task.plannedDecoder.isInherited
    case "payloadPath": task.plannedPayloadPath != .inherited
    case "gzipUploadThreshold": task.plannedGZipThreshold != nil
    case "timeouts": task.timeouts != Timeouts()
    case "cookiePolicy": !task.cookiePolicy.isInherited
    case "redirectPolicy": !task.redirectPolicy.isInherited
    case "cachePolicy": !task.cachePolicy.isInherited
    case "addressPolicy": !task.addressPolicy.isInherited
    case "acceptedStatuses": !task.acceptedStatuses.isInherited
    case "retryPolicy": !task.retryPolicy.isInherited
    case "authentication": !task.authentication.isInherited
    default: false
    }
  }

  /// Returns the requirement whose name the property probably misspells.
  private static func neighbour(of label: String, _ value: Any, in task: any ServerTask) -> String? {
    let type = withoutOptional(Swift.type(of: value))
    if type == URL.self, label.sorted() == "url".sorted() { return "url" }
    guard label.utf8.count >= 4 else { return nil }
    if value is any BodyEncoder, isOneOff(label, "encoder") { return "encoder" }
    if value is any PayloadDecoder, isOneOff(label, "decoder") { return "decoder" }
    if type == MediaType.self, task is any UploadingTask, isOneOff(label, "uploadType") { return "uploadType" }
    // A long name is unlikely to match by chance, so its type is not checked.
    let near = types.first { isOneOff(label, $0.key) && ($0.value == type || $0.key.utf8.count >= 8) }
    return near?.key ?? likelyAspect(of: label, type)
  }

  private static func likelyAspect(of label: String, _ type: Any.Type) -> String? {
    let likely: [String: [Any.Type]] = [
      "path": [String.self, [String].self],
      "query": pairs + [HTTPQuery.self, [URLQueryItem].self],
      "headers": pairs + [HTTPHeaders.self, [HTTPHeaderName: String].self],
      "timeout": [Duration.self, Int.self, Double.self],
      "parameters": pairs + [HTTPQuery.self],
      "payloadPath": [PayloadPath.self, String.self, [String].self], "gzipUploadThreshold": [Int.self],
    ]
    return likely.first { aspect, types in
      isOneOff(label, aspect) && (types.contains { $0 == type } || isKeyed(type, for: aspect))
    }?.key
  }

  /// Whether the type has keys. For `headers`, only dictionaries count, because a property named `header` often has
  /// another purpose.
  private static func isKeyed(_ type: Any.Type, for aspect: String) -> Bool {
    switch aspect {
    case "headers": "\(type)".hasPrefix("Dictionary<")
    case "query", "parameters":
      type is any Encodable.Type && !(type is any LosslessStringConvertible.Type)
        && !["Array<", "Set<", "Date", "URL", "Data", "UUID", "Decimal"].contains { "\(type)".hasPrefix($0) }
    default: false
    }
  }

  private static let pairs: [Any.Type] = [
    [String: String].self, [String: String?].self, [(String, String)].self, [(String, String?)].self,
    KeyValuePairs<String, String>.self, KeyValuePairs<String, String?>.self,
  ]

  private static func withoutOptional(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalValue.Type)?.wrappedType ?? type
  }

  /// Whether the names differ by one inserted, removed or replaced letter, or by two transposed letters.
  static func isOneOff(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left), Array(right))
    let (short, long) = left.count <= right.count ? (left, right) : (right, left)
    guard long.count - short.count <= 1, short != long else { return false }
    let same = zip(short, long).prefix { $0 == $1 }.count
    let (rest, other) = (short[same...], long[same...])
    if short.count < long.count { return rest.elementsEqual(other.dropFirst()) }
    if rest.dropFirst().elementsEqual(other.dropFirst()) { return true }
    return rest.count > 1 && rest.first == other.dropFirst().first && rest.dropFirst().first == other.first
      && rest.dropFirst(2).elementsEqual(other.dropFirst(2))
  }
}
