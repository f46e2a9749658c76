import ErrandFoundation

extension URL {
  /// The size of a file, or 0 if it does not exist. Foundation's attribute types differ between platforms.
  var byteCount: Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
