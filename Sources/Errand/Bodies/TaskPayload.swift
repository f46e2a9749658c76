/// What a task sends or receives: a value that can be encoded, decoded and passed between isolation domains.
///
/// In an app whose default isolation is the main actor, conform to this instead of `Codable`: the conformance is then
/// usable from everywhere.
public protocol TaskPayload: Codable, Sendable {}
