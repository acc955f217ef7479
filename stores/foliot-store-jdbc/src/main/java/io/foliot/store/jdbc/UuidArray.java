package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGBinaryObject;
import org.postgresql.util.PGobject;

/**
 * An array parameter of ids or tokens. It is sent in binary form if the connection enables this form
 * ({@code binaryTransferEnable=UUID_ARRAY}), else as text. As text, ids would be more than half of the cost of a batch.
 * The driver itself has a binary form only for arrays of other types.
 */
final class UuidArray extends PGobject implements PGBinaryObject {
  private static final long serialVersionUID = 1;
  /** PostgreSQL's object id of the type uuid. */
  private static final int UUID_TYPE = 2950;
  /** Size of five integers: number of dimensions, flag for NULLs, element type, array length, lower bound. */
  private static final int HEADER_BYTES = 20;
  /** Size of a NULL element: its length field, which is -1, and no value. */
  private static final int NULL_BYTES = 4;
  /** Size of an id: its length field, and 16 bytes. */
  private static final int ID_BYTES = 20;

  private final long[] highs;
  private final long[] lows;
  private final boolean[] present;
  /** The number of elements that are NULL. */
  private int nulls;

  /** Creates an array of NULLs. */
  UuidArray(int length) {
    highs = new long[length];
    lows = new long[length];
    present = new boolean[length];
    nulls = length;
    super.type = "_uuid";
  }

  void set(int at, TaskId id) {
    set(at, id.high(), id.low());
  }

  void set(int at, @Nullable Token token) {
    if (token != null) {
      set(at, token.high(), token.low());
    }
  }

  private void set(int at, long high, long low) {
    highs[at] = high;
    lows[at] = low;
    nulls -= present[at] ? 0 : 1;
    present[at] = true;
  }

  @Override
  public int lengthInBytes() {
    return HEADER_BYTES + nulls * NULL_BYTES + (highs.length - nulls) * ID_BYTES;
  }

  @Override
  public void toBytes(byte[] bytes, int offset) {
    ByteBuffer out = ByteBuffer.wrap(bytes, offset, lengthInBytes());
    out.putInt(1).putInt(nulls > 0 ? 1 : 0).putInt(UUID_TYPE).putInt(highs.length).putInt(1);
    for (int i = 0; i < highs.length; i++) {
      if (present[i]) {
        out.putInt(16).putLong(highs[i]).putLong(lows[i]);
      } else {
        out.putInt(-1);
      }
    }
  }

  @Override
  public void setByteValue(byte[] bytes, int offset) throws SQLException {
    throw new SQLException("an array of ids is only sent, never received");
  }

  @Override
  public String getValue() {
    StringBuilder text = new StringBuilder(2 + 37 * highs.length).append('{');
    for (int i = 0; i < highs.length; i++) {
      if (i > 0) {
        text.append(',');
      }
      text.append(present[i] ? new UUID(highs[i], lows[i]) : "NULL");
    }
    return text.append('}').toString();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof UuidArray that && Arrays.equals(highs, that.highs) && Arrays.equals(lows, that.lows)
        && Arrays.equals(present, that.present);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(lows);
  }

  @Override
  public Object clone() throws CloneNotSupportedException {
    throw new CloneNotSupportedException("an array of ids is used once");
  }
}
