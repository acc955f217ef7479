package io.foliot.server.api;

import java.io.ByteArrayOutputStream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/** Streaming readers and writers of JSON, with limits. */
final class Json {
  /** Maximum number of levels of nesting. Deeper nesting serves only to exhaust a stack. */
  static final int MAX_DEPTH = 64;
  /** Maximum number of digits of a number. More serve only to make arithmetic slow. */
  static final int MAX_NUMBER_LENGTH = 1_000;
  /** Longest string, in characters. It is longer than the largest payload in Base64. */
  static final int MAX_STRING_LENGTH = 2 << 20;
  /** Longest name of a field, in characters. */
  static final int MAX_NAME_LENGTH = 8 << 10;

  private static final JsonFactory FACTORY = JsonFactory.builder()
      .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH)
          .maxNumberLength(MAX_NUMBER_LENGTH).maxStringLength(MAX_STRING_LENGTH).maxNameLength(MAX_NAME_LENGTH).build())
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      // JSON between systems is UTF-8 (RFC 8259), and JsonIn.raw copies payloads from the bytes.
      .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
      // The calls that write many lines end each line themselves.
      .rootValueSeparator("")
      .build();

  private Json() {}

  static JsonGenerator generator(ByteArrayOutputStream out) {
    return FACTORY.createGenerator(ObjectWriteContext.empty(), out);
  }

  static JsonParser parser(byte[] source) {
    return FACTORY.createParser(ObjectReadContext.empty(), source);
  }

  /** Returns whether the bytes are exactly one JSON value, so that they can be written into an answer as they are. */
  static boolean isOneValue(byte[] bytes) {
    if (bytes.length == 0 || Utf8.firstMistake(bytes) >= 0) {
      return false;
    }
    try (JsonParser parser = parser(bytes)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null;
    } catch (JacksonException e) {
      return false;
    }
  }
}
