public import ErrandFoundation

extension JSONValue {
  /// Decodes any value. Throws `DecodingError` for a number that `Double` can't represent, such as 1e400.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let members = try Self.nested([String: JSONValue].self, value) {
      self = .object(members)
    } else if let elements = try Self.nested([JSONValue].self, value) {
      self = .array(elements)
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? value.decode(UInt64.self) {
      self = .unsigned(number)
    } else {
      self = .number(try value.decode(Double.self))
    }
  }

  /// Decodes an array or object. Returns `nil` if the value has another type. Errors inside the value are thrown.
  private static func nested<Value: Decodable>(
    _ type: Value.Type, _ value: any SingleValueDecodingContainer
  ) throws -> Value? {
    do {
      return try value.decode(type)
    } catch DecodingError.typeMismatch(_, let context) where context.codingPath.count <= value.codingPath.count {
      return nil
    }
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let flag): try value.encode(flag)
    case .integer(let number): try value.encode(number)
    case .unsigned(let number): try value.encode(number)
    case .number(let number): try value.encode(number)
    case .string(let text): try value.encode(text)
    case .array(let elements): try value.encode(elements)
    case .object(let members): try value.encode(members)
    }
  }

  /// Parses JSON text. Throws `DecodingError` if the text is not valid JSON.
  public init(json: some StringProtocol) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
  }

  /// Decodes the value as another type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - decoder: The decoder. Defaults to a `JSONDecoder`.
  /// - Returns: The decoded value.
  /// - Throws: ``TaskError`` with code `.decodingFailed` if decoding fails.
  public func decoded<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, decoder: any PayloadDecoder = JSONDecoder()
  ) throws -> Value {
    let json: Data
    do {
      json = try JSONEncoder().encode(self)
    } catch {
      throw TaskError(
        .decodingFailed, "can't decode \(type): \(PayloadCoding.explain(error))", phase: .finishing, underlying: error)
    }
    return try PayloadCoding.decode(type, from: json, mediaType: .json, with: decoder, redaction: nil)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON on one line, with sorted keys.
  public var description: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  /// Creates `null`.
  public init(nilLiteral: ()) { self = .null }

  /// Creates a Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral, ExpressibleByStringInterpolation {
  /// Creates a number.
  public init(floatLiteral value: Double) { self = .number(value) }

  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Creates an object. If a key is repeated, its last value is used.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
