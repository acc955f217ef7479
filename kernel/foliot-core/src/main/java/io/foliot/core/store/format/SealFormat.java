package io.foliot.core.store.format;

import io.foliot.core.store.StoreSeal;

/** A seal as the content of a document. */
public final class SealFormat {
  private static final String SUBJECT = "seal";

  private SealFormat() {}

  /** Returns the bytes of a seal. */
  public static byte[] encode(StoreSeal seal) {
    String cursor = seal.cursor();
    return DocumentFormat.encode(SUBJECT, out -> {
      out.u8(EnumCodes.of(seal.state())).text(seal.other()).u8(cursor == null ? 0 : 1);
      if (cursor != null) {
        out.text(cursor);
      }
      out.u64(seal.tasks());
    });
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws UnreadableException if the content cannot be read; the class of the exception says why
   */
  public static StoreSeal decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, in -> new StoreSeal(EnumCodes.sealState(in.u8()), in.text(),
        in.u8() == 0 ? null : in.text(), in.u64()));
  }
}
