import ErrandFoundation

/// Learns the names of a payload's ``Redacted`` properties before a response is shown.
///
/// Decoding the payload does that too, but not every response is decoded before it is shown: a shared request, a call
/// whose hook throws, or a call that returns bytes.
enum PayloadSecrets {
  /// Decodes the body as the call's payload and discards the result.
  static func learn(from body: Data, _ mediaType: MediaType?, of call: Call) {
    guard let task = call.plan.task as? any PayloadDownloadingTask else { return }
    learn(task, from: body, mediaType, of: call)
  }

  private static func learn<Task: PayloadDownloadingTask>(
    _ task: Task, from body: Data, _ mediaType: MediaType?, of call: Call
  ) {
    let type = Task.DownloadPayload.self
    let keys = call.plan.payloadPath.keys(for: type, under: call.snapshot.configuration.payloadPath)
    _ = try? PayloadCoding.decode(
      type, from: body, mediaType: mediaType, with: call.decoder(for: mediaType), at: keys, redaction: nil)
  }
}
