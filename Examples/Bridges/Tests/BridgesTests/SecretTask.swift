import Errand

/// A task with a secret in its query and in a header.
struct SecretTask: ServerGETTask {
  static let secret = "hunter2"

  let path = "secrets"
  let query = ["token": secret]
  let headers = ["Authorization": "Bearer \(secret)"]
}
