import ErrandFoundation

/// Any JSON value, for comparing JSON by content. Numbers are exact up to the 38 digits of a `Decimal`.
enum CanonicalJSON: Codable {
  case null
  case bool(Bool)
  case number(Decimal)
  /// A number outside the range of `Decimal`.
  case extreme(Double)
  case string(String)
  case array([CanonicalJSON])
  case object([String: CanonicalJSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Decimal.self) {
      self = .number(value)  // 1.0 equals 1
    } else if let value = try? container.decode(Double.self) {
      self = .extreme(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([CanonicalJSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: CanonicalJSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .extreme(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Returns JSON without whitespace and with sorted keys. Invalid JSON is returned unchanged.
  static func text(of data: Data) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let value = try? JSONDecoder().decode(CanonicalJSON.self, from: data)
    return String(decoding: value.flatMap { try? encoder.encode($0) } ?? data, as: UTF8.self)
  }
}
