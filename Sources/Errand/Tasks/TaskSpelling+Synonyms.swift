import ErrandFoundation

/// Property names from other libraries, such as `params`.
///
/// An app may use such a property for another purpose, so it is reported only if the request lacks the corresponding
/// part.
extension TaskSpelling {
  private enum Purpose: String {
    case body = "uploadPayload (PayloadUploadingTask)"
    case form = "uploadPayload (FormUploadingTask)"
    case parameters, query, headers, timeout, retryPolicy
    case method = "httpMethod"
    case remote = "the server's remote, as in Server(\"https://…\")"
  }

  private static let purposes: [String: Purpose] = [
    "body": .body, "payload": .body, "json": .body, "requestBody": .body, "httpBody": .body,
    "form": .form, "formData": .form, "formFields": .form,
    "params": .parameters, "requestParameters": .parameters, "bodyParameters": .parameters,
    "queryItems": .query, "queryParameters": .query, "queryParams": .query, "urlParameters": .query,
    "httpHeaders": .headers, "headerFields": .headers, "additionalHeaders": .headers, "requestHeaders": .headers,
    "method": .method, "baseURL": .remote, "baseUrl": .remote, "timeoutInterval": .timeout, "requestTimeout": .timeout,
    "retries": .retryPolicy, "maxRetries": .retryPolicy, "retryCount": .retryPolicy, "retryLimit": .retryPolicy,
  ]

  private static let reported = Lock<Set<ObjectIdentifier>>([])

  /// Logs problems with a task, once per task type, after its request has been built.
  static func log(_ plan: TaskPlan, sending request: HTTPRequest, to output: LogOutput) {
    let type = ObjectIdentifier(type(of: plan.task))
    guard reported.withLock({ $0.insert(type).inserted }) else { return }
    for problem in synonyms(in: plan, sending: request) { output.write(problem) }
  }

  /// Returns a message for each ignored stored property with one of these names.
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
        "\(plan.taskName).\(label) is ignored: ServerTask has no property '\(label)'. Did you mean \(purpose.rawValue)?"
    }
  }

  /// Whether the task is one of the library's types, such as `Endpoint`.
  static func isOurs(_ task: any ServerTask) -> Bool {
    String(reflecting: type(of: task)).hasPrefix("\(String(reflecting: Self.self).prefix { $0 != "." }).")
  }

  private static func isUnserved(
    _ purpose: Purpose, _ value: Any, _ plan: TaskPlan, _ request: HTTPRequest
  ) -> Bool {
    if let method = value as? HTTPMethod { return method != request.method }
    guard request.body.isEmpty else { return false }  // the body may contain the property
    switch purpose {
    case .remote: return !request.url.absoluteString.contains("\(value)")
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
