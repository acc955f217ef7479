package io.foliot.core.store.format;

/** The content of a document in a {@link Frame} that belongs to the document's name. */
public final class DocumentFormat {
  private DocumentFormat() {}

  /** Returns what is stored of a document. */
  public static byte[] frame(String name, byte[] content) {
    Bytes out = new Bytes(content.length + 8);
    int start = Frame.begin(out);
    return Frame.end(out.bytes(content), start, Checksum.mark(name)).toArray();
  }

  /**
   * Returns the content of what is stored of a document.
   *
   * @throws UnreadableException if it cannot be read
   */
  public static byte[] unframe(String name, byte[] stored) {
    return Frame.read("a document", name, Checksum.mark(name), stored, BytesReader::rest);
  }
}
