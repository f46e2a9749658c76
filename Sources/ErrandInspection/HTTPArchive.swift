public import Errand
public import ErrandFoundation

/// Recorded calls as an HTTP Archive 1.2 (HAR), a format that browsers and other tools read and write.
///
///     try calls.archive.write(to: file)
///     let archive = try HTTPArchive(data: Data(contentsOf: file))
///
/// There is one entry per request, in the order in which the calls ended. A call that was retried or redirected has
/// several entries. Errand's additional fields begin with `_`, and other tools ignore them. Secrets are hidden
/// according to the policy in effect when the call was recorded. Calls that hide their URL are omitted.
public struct HTTPArchive: Sendable, Hashable {
  /// A program name and version.
  public struct Creator: Codable, Sendable, Hashable {
    /// The program's name.
    public var name: String
    /// The program's version.
    public var version: String

    /// Creates a program name and version.
    public init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// The program that wrote the archive.
  public var creator = Creator(name: "Errand", version: "0.1")
  /// The requests with their responses.
  public var entries: [Entry]
  /// A comment, if any.
  public var comment: String?

  /// Creates an archive from entries.
  public init(entries: [Entry]) { self.entries = entries }

  /// Creates an archive from recorded calls.
  public init(_ calls: [RecordedCall]) { self.init(entries: calls.flatMap { Entry.entries(of: $0) }) }

  /// Reads an archive. Only the method and URL of each request are required. Throws `DecodingError` if the data is not
  /// an archive.
  public init(data: Data) throws { self = try JSONDecoder().decode(Self.self, from: data) }

  /// Returns the archive as JSON.
  public func data() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Writes the archive to a file that other users can't read (0600). An existing file is replaced when the new one is
  /// complete. Missing folders are created with mode 0700.
  ///
  /// - Throws: `TaskError` with code `.fileNotWritable`.
  public func write(to file: URL) throws {
    let data = try data()
    let partial = try PartialFile(for: file, isPrivate: true)
    do {
      try partial.write(data)
    } catch {
      partial.discard()
      throw error
    }
    try partial.publish()
  }
}

extension HTTPArchive: Codable {
  private enum Root: String, CodingKey {
    case log
  }

  private enum Log: String, CodingKey {
    case version, creator, entries, comment
  }

  /// Decodes the object stored under `log`.
  public init(from decoder: any Decoder) throws {
    let log = try decoder.container(keyedBy: Root.self).nestedContainer(keyedBy: Log.self, forKey: .log)
    creator = try log.decodeIfPresent(Creator.self, forKey: .creator) ?? Creator(name: "", version: "")
    entries = try log.decode([Entry].self, forKey: .entries)
    comment = try log.decodeIfPresent(String.self, forKey: .comment)
  }

  /// Encodes the object under `log`.
  public func encode(to encoder: any Encoder) throws {
    var root = encoder.container(keyedBy: Root.self)
    var log = root.nestedContainer(keyedBy: Log.self, forKey: .log)
    try log.encode("1.2", forKey: .version)
    try log.encode(creator, forKey: .creator)
    try log.encode(entries, forKey: .entries)
    try log.encodeIfPresent(comment, forKey: .comment)
  }
}

extension RecordedCalls {
  /// The calls as an HTTP Archive.
  public var archive: HTTPArchive { HTTPArchive(calls) }
}
