public import Errand

/// A task that an ``OfflineQueue`` can store in a file and deliver later, even after a relaunch of the program.
///
///     struct AddNote: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
///       static let typeName = "note"
///       var uploadPayload: Note
///       var path: String { "notes" }
///     }
///
/// The encoded value must contain everything that the request needs, except the server, which the queue provides.
public protocol PersistentTask: ServerTask, Codable {
  /// The type's unique name in stored files. Defaults to the Swift name of the type. Declare it explicitly if you want
  /// to be able to rename the type.
  static var typeName: String { get }
  /// The version of the encoded form. Defaults to 1. Tasks stored with a different version are migrated or set aside.
  static var version: Int { get }
}

extension PersistentTask {
  /// The Swift name of the type.
  public static var typeName: String { "\(Self.self)" }
  /// The default version, 1.
  public static var version: Int { 1 }
}
