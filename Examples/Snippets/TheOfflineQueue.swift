import Errand
import ErrandTransfers
import Foundation

struct Note: TaskPayload {
  var text: String
}

struct AddNote: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
  static let typeName = "note"
  var uploadPayload: Note
  var path: String { "notes" }
}

struct AddNotes: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
  static let typeName = "note"
  static let version = 2
  var uploadPayload: [Note]
  var path: String { "notes" }
}

func kept(_ note: Note, _ folder: URL, _ shop: Server, show: @escaping @Sendable (String) -> Void) async throws {
  let outbox = try OfflineQueue(in: folder, on: shop, types: [AddNote.self])
  try await outbox.add(AddNote(uploadPayload: note), key: "notebook 7")

  try await outbox.run { report in
    if case .failed(let error) = report.outcome { show("a note could not be saved: \(error)") }
  }
}

func migrated(_ folder: URL, _ shop: Server) throws -> OfflineQueue {
  let outbox = try OfflineQueue(in: folder, on: shop, types: [AddNotes.self]) { old in
    guard old.typeName == "note", old.version == 1 else { return nil }
    let note = try JSONDecoder().decode(AddNote.self, from: Data(old.payload.utf8))
    return AddNotes(uploadPayload: [note.uploadPayload])
  }
  return outbox
}
