import ErrandFoundation

/// Names that other libraries have for what a task says by its aspects.
///
/// A property of such a name may be meant for something else. It is told of where the request is without what it would be for.
extension TaskSpelling {
  /// What a property of such a name is meant for.
  private enum Purpose: String {
    case body = "uploadPayload of a PayloadUploadingTask"
    case form = "uploadPayload of a FormUploadingTask"
    case parameters, query, headers, timeout, retryPolicy
    case method = "httpMethod"
  }

  private static let purposes: [String: Purpose] = [
    "body": .body, "payload": .body, "json": .body, "requestBody": .body, "httpBody": .body,
    "form": .form, "formData": .form, "formFields": .form,
    "params": .parameters, "requestParameters": .parameters, "bodyParameters": .parameters,
    "queryItems": .query, "queryParameters": .query, "queryParams": .query, "urlParameters": .query,
    "httpHeaders": .headers, "headerFields": .headers, "additionalHeaders": .headers, "requestHeaders": .headers,
    "method": .method, "timeoutInterval": .timeout, "requestTimeout": .timeout,
    "retries": .retryPolicy, "maxRetries": .retryPolicy, "retryCount": .retryPolicy, "retryLimit": .retryPolicy,
  ]

  private static let told = Lock<Set<ObjectIdentifier>>([])

  /// Writes them to the log, the first time that a task of its type has built a request.
  static func tell(_ plan: TaskPlan, sending request: HTTPRequest, log: TextSink) {
    let type = ObjectIdentifier(type(of: plan.task))
    guard told.withLock({ $0.insert(type).inserted }) else { return }
    for problem in synonyms(in: plan, sending: request) { log.write(problem) }
  }

  /// The stored properties of such names that count for nothing, in words.
  package static func synonyms(
    in plan: TaskPlan, sending request: HTTPRequest, ignoring others: Set<String> = []
  ) -> [String] {
    let mirror = Mirror(reflecting: plan.task)
    guard mirror.displayStyle != .enum, !isOurs(plan.task) else { return [] }
    return mirror.children.compactMap { property in
      guard let label = property.label, !others.contains(label), let purpose = purposes[label],
        isUnserved(purpose, property.value, plan, request)
      else { return nil }
      return
        "\(plan.taskName).\(label) counts for nothing, for no aspect of a task has that name: \(purpose.rawValue) has"
    }
  }

  /// True for a type of the library's own, such as an endpoint, whose properties say what they are for.
  static func isOurs(_ task: any ServerTask) -> Bool {
    String(reflecting: type(of: task)).hasPrefix("\(String(reflecting: Self.self).prefix { $0 != "." }).")
  }

  private static func isUnserved(
    _ purpose: Purpose, _ value: Any, _ plan: TaskPlan, _ request: HTTPRequest
  ) -> Bool {
    guard request.body.isEmpty else { return false }  // it may have become a part of that
    switch purpose {
    case .body, .form: return request.method.sendsParametersInBody
    case .parameters, .query: return request.url.query(percentEncoded: true) == nil
    case .headers: return plan.headers.isEmpty
    case .timeout: return !plan.hasLimits
    case .retryPolicy: return plan.retryPolicy.isInherited
    case .method:
      let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
      return plan.httpMethod == .automatic && methods.contains("\(value)".uppercased())
    }
  }
}
