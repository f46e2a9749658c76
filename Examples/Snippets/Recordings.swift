import Errand

func recordOneCall(of shop: Server) async throws {
  let folder = try await shop.recordTaskPath()
  _ = try await GetWidget(id: 7).send()
  await shop.endTaskPathRecording()  // returns when everything is written
  _ = folder
}

func hidePins(of shop: Server) async {
  await shop.update {
    $0.redaction.fields.insert("pin")
    $0.redaction.paths = ["customer.email", "cards.number"]
    $0.redaction.bodies = ["application/vnd.bank+json", "text/*"]
  }
}
