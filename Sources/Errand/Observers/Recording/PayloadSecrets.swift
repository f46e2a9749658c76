import ErrandFoundation

/// Learns the names of a payload's ``Redacted`` properties before a response is shown.
///
/// Decoding the payload does that too, but not every response is decoded before it is shown: a shared request, a call
/// whose hook throws, or a call that returns bytes.
enum PayloadSecrets {
  /// The payload types that have been decoded.
  private static let known = Lock<Set<ObjectIdentifier>>([])

  /// Decodes the body as the call's payload, once for each type, and discards the result.
  static func learn(from body: Data, _ mediaType: MediaType?, of call: Call) {
    guard let task = call.plan.task as? any PayloadDownloadingTask else { return }
    learn(task, from: body, mediaType, of: call)
  }

  private static func learn<Task: PayloadDownloadingTask>(
    _ task: Task, from body: Data, _ mediaType: MediaType?, of call: Call
  ) {
    let type = Task.DownloadPayload.self
    guard !known.withLock({ $0.contains(ObjectIdentifier(type)) }) else { return }
    let keys = call.plan.payloadPath.keys(for: type, under: call.snapshot.configuration.payloadPath)
    let payload = try? PayloadCoding.decode(
      type, from: body, mediaType: mediaType, with: call.decoder(for: mediaType), at: keys, redaction: nil)
    // A response that is not the payload, such as an error, does not show all names.
    if payload != nil { _ = known.withLock { $0.insert(ObjectIdentifier(type)) } }
  }
}
