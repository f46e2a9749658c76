/// A payload inside an envelope, at the key path `Envelope.keys`. The keys are task-local because they can't be passed
/// to a `Decodable` initializer.
struct Enveloped<Payload: Decodable>: Decodable {
  let payload: Payload

  init(from decoder: any Decoder) throws {
    var container = try decoder.container(keyedBy: EnvelopeKey.self)
    var keys = Envelope.keys.map(EnvelopeKey.init)[...]
    let last = keys.popLast() ?? EnvelopeKey(stringValue: "")
    for key in keys { container = try container.nestedContainer(keyedBy: EnvelopeKey.self, forKey: key) }
    payload = try container.decode(Payload.self, forKey: last)
  }
}

enum Envelope {
  @TaskLocal static var keys: [String] = []
}

private struct EnvelopeKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
