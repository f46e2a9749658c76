import Testing

@testable import Errand

/// Extended values (RFC 8187 §3.2) and encoded words (RFC 2047).
@Suite(.timeLimit(.minutes(1))) struct ExtendedValueTests {
  @Test(arguments: [
    ("UTF-8'language'value", "value"), ("utf-8''1%202", "1 2"),
    ("UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", "£ and € rates"),
    ("UTF-8''", ""),
    // ISO-8859-1 is optional in RFC 8187 §3.2.1, but it is unambiguous and was required by RFC 5987.
    ("iso-8859-1'en'%A3%20rates", "£ rates"),
  ]) func `decodes an extended value in its charset`(value: String, text: String) {
    #expect(ExtendedValue.text(of: value) == text)
  }

  @Test(arguments: [
    "''abc", "foo''abc", "utf-16''ab", "abc", "'abc", "UTF-8'abc", "UTF-8''a b", "UTF-8''a'b", "UTF-8''a*b",
    "UTF-8''a\"b",
    "UTF-8''é", "UTF-8''a%zz", "UTF-8''a%b", "UTF-8''a%", "UTF-8''%A3%20rates", "",
  ]) func `returns nil for a malformed value`(value: String) { #expect(ExtendedValue.text(of: value) == nil) }

  @Test(arguments: [
    ("=?utf-8?Q?caf=C3=A9?=", "café"), ("=?UTF-8?q?a_b=20c?=", "a b c"), ("=?utf-8?B?4oKs?=", "€"),
    ("=?iso-8859-1*en?Q?=E4?=", "ä"), ("a =?utf-8?Q?b?= c", "a b c"), ("=?utf-8?Q?a?= \t=?utf-8?Q?b?=", "ab"),
    ("=?utf-8?Q?100%25?=", "100%25"), ("=?windows-1252?Q?=80?=", "€"),
    // Invalid encoded words remain unchanged.
    ("=?utf-8?Q?=C3?=", "=?utf-8?Q?=C3?="), ("=?utf-8?Q?=?=", "=?utf-8?Q?=?="), ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
    ("=?none?Q?a?=", "=?none?Q?a?="), ("=?utf-8?B?!?=", "=?utf-8?B?!?="), ("=??Q?a?=", "=??Q?a?="), ("=?", "=?"),
    ("what?", "what?"), ("=?utf-8?Q?a", "=?utf-8?Q?a"), ("", ""),
  ]) func `decodes encoded words`(text: String, decoded: String) { #expect(EncodedWords.decoded(text) == decoded) }
}
