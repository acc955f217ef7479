package io.foliot.core.store.format;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The format of documents: a {@link Frame} whose owner is a subject, so bytes of another subject do not match the
 * checksum. Stores frame a document with its name as the subject. The engine and the coordinators also frame the
 * content of a document, with the kind of the content as the subject, because coordination services verify no checksum.
 *
 * <p>A subject is part of the format and never changes.
 */
public final class DocumentFormat {
  /** Initial capacity in bytes, enough for most documents. */
  private static final int SIZE_USUAL = 128;

  private DocumentFormat() {}

  /**
   * Returns the bytes of a document.
   *
   * @param content writes the content
   */
  public static byte[] encode(String subject, Consumer<Bytes> content) {
    return framed(subject, new Bytes(SIZE_USUAL), content);
  }

  /**
   * Reads bytes that {@link #encode} returned for the same subject.
   *
   * @param content reads all of the content; throws {@link IndexOutOfBoundsException} or
   *     {@link IllegalArgumentException} if the content is malformed
   * @throws UnreadableException if the bytes cannot be read; the class of the exception says why
   */
  public static <T> T decode(String subject, byte[] bytes, Function<BytesReader, T> content) {
    return Frame.read("a document", subject, Checksum.mark(subject), bytes, content);
  }

  /** Returns the bytes that are stored for a document. */
  public static byte[] frame(String name, byte[] content) {
    return framed(name, new Bytes(content.length + 8), out -> out.bytes(content));
  }

  /**
   * Returns the content from the bytes that are stored for a document.
   *
   * @throws UnreadableException if the bytes cannot be read
   */
  public static byte[] unframe(String name, byte[] stored) {
    return decode(name, stored, BytesReader::rest);
  }

  private static byte[] framed(String subject, Bytes out, Consumer<Bytes> content) {
    int start = Frame.begin(out);
    content.accept(out);
    return Frame.end(out, start, Checksum.mark(subject)).toArray();
  }
}
