/// A task that an ``OfflineQueue`` can keep in a file, until a later run of the program delivers it.
///
///     struct AddNote: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
///       static let typeName = "note"
///       var uploadPayload: Note
///       var path: String { "notes" }
///     }
///
/// What it encodes must be all that the request is made of. Its server is not: that is the queue's.
public protocol PersistentTask: ServerTask, Codable {
  /// The name of the type in files; another type never has it. The type's own name unless stated: state it, so that the type can be
  /// renamed.
  static var typeName: String { get }
  /// The version of what the type encodes; 1 unless stated. A task of another version is migrated, or set aside.
  static var version: Int { get }
}

extension PersistentTask {
  /// The name of the type.
  public static var typeName: String { "\(Self.self)" }
  /// 1.
  public static var version: Int { 1 }
}
