import ErrandFoundation

extension URL {
  /// A file's size, or 0 if the file does not exist. Foundation's attribute types differ between platforms.
  var byteCount: Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
