package io.foliot.core;

/**
 * The id of a task: 128 bits in the layout of a UUID version 7. The first 48 bits are the time of creation in
 * milliseconds since 1970, so ids made one after the other sort near each other. The last 16 bits are a
 * {@linkplain #hash16 hash}, which gives the task's slot for any number of slots.
 *
 * @param high the first 64 bits
 * @param low the last 64 bits
 */
public record TaskId(long high, long low) implements Comparable<TaskId> {
  /** UUID version 7 of RFC 9562, shifted to the position of the version in the first 64 bits. */
  private static final long VERSION = 0x7000L;
  /** UUID version 8 of RFC 9562, which is for custom layouts. */
  private static final long ADDRESSED = 0x8000L;
  private static final long VERSION_MASK = 0xF000L;
  // The numbers of bits for the number of an address, for the item, and for the hash. Together with two bits for the
  // kind of the address, they replace the 58 random bits.
  private static final int NUMBER_BITS = 17;
  private static final int ITEM_BITS = 14;
  private static final int HASH_BITS = 25;
  /** UUID variant of RFC 9562: the first two of the last 64 bits. */
  private static final long VARIANT = 0x8000_0000_0000_0000L;
  // The numbers of random bits before and after the variant.
  private static final int HIGH_BITS = 12;
  private static final int LOW_BITS = 46;
  private static final long LOW_MASK = (1L << LOW_BITS) - 1;
  private static final int TEXT_LENGTH = 36;

  /**
   * Creates an id.
   *
   * @param wallMillis the time of creation in milliseconds since 1970; the lowest 48 bits are used
   * @param hash16 the hash that gives the slot of the task; the lowest 16 bits are used
   * @param random 64 random bits; the first 12 and last 46 bits are used
   */
  public static TaskId of(long wallMillis, int hash16, long random) {
    long high = (wallMillis << 16) | VERSION | (random >>> (Long.SIZE - HIGH_BITS));
    long low = VARIANT | ((random & LOW_MASK) << 16) | (hash16 & 0xFFFF);
    return new TaskId(high, low);
  }

  /**
   * Creates the id of a task with an {@linkplain #address address}: a UUID version 8. Instead of the 58 random bits of
   * version 7, this id has two bits for the kind of the address, the number of the address, the item and the hash.
   * Different items have different ids, even if their hashes are the same.
   *
   * @param wallMillis the time of creation in milliseconds since 1970; the lowest 48 bits are used
   * @param hash16 the hash that gives the slot of the task; the lowest 16 bits are used
   * @param item a number that distinguishes tasks with the same {@code hash}, from 0 to 16,383
   * @param hash a hash that distinguishes tasks with the same time of creation; the lowest 25 bits are used
   * @throws IllegalArgumentException if the address is {@link Address#ANYWHERE}, or the item is out of range
   */
  public static TaskId addressed(long wallMillis, int hash16, Address address, int item, long hash) {
    if (address.isAnywhere() || item < 0 || item >= 1 << ITEM_BITS) {
      throw new IllegalArgumentException("an addressed task has an address, and an item below " + (1 << ITEM_BITS)
          + ": address=" + address + ", item=" + item);
    }
    long kindAndNumber = ((long) (address.kind().code() - 1) << NUMBER_BITS) | address.number();
    long bits = (((kindAndNumber << ITEM_BITS) | item) << HASH_BITS) | (hash & ((1L << HASH_BITS) - 1));
    TaskId plain = of(wallMillis, hash16, ((bits >>> LOW_BITS) << (Long.SIZE - HIGH_BITS)) | (bits & LOW_MASK));
    return new TaskId((plain.high & ~VERSION_MASK) | ADDRESSED, plain.low);
  }

  /** Returns which workers may run the task: {@link Address#ANYWHERE} if the id was created without an address. */
  public Address address() {
    if ((high & VERSION_MASK) != ADDRESSED) {
      return Address.ANYWHERE;
    }
    long bits = ((high & 0xFFF) << LOW_BITS) | ((low >>> 16) & LOW_MASK);
    int kindAndNumber = (int) (bits >>> (ITEM_BITS + HASH_BITS));
    return new Address(Address.Kind.of((kindAndNumber >>> NUMBER_BITS) + 1), kindAndNumber & Address.MAX_NUMBER);
  }

  /**
   * Parses the text that {@link #toString} returns.
   *
   * @throws IllegalArgumentException if the text is not an id
   */
  public static TaskId parse(String text) {
    if (text.length() != TEXT_LENGTH || text.charAt(8) != '-' || text.charAt(13) != '-' || text.charAt(18) != '-'
        || text.charAt(23) != '-') {
      throw notAnId(text);
    }
    long high = (hex(text, 0, 8) << 32) | (hex(text, 9, 13) << 16) | hex(text, 14, 18);
    long low = (hex(text, 19, 23) << 48) | hex(text, 24, 36);
    return new TaskId(high, low);
  }

  private static long hex(String text, int from, int to) {
    long value = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      int digit = c < 128 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        throw notAnId(text);
      }
      value = (value << 4) | digit;
    }
    return value;
  }

  private static IllegalArgumentException notAnId(String text) {
    String shown = text.length() > 64 ? text.substring(0, 64) + "..." : text;
    return new IllegalArgumentException("a task id has the form of a UUID, 8-4-4-4-12 hexadecimal digits: id=" + shown);
  }

  /** Returns the 16 bits that give the slot. */
  public int hash16() {
    return (int) low & 0xFFFF;
  }

  /** Returns the slot of this task, where the number of slots is a power of two of at most 65,536. */
  public int slot(int slotCount) {
    return hash16() & (slotCount - 1);
  }

  @Override
  public int compareTo(TaskId other) {
    int order = Long.compareUnsigned(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  @Override
  public int hashCode() {
    long mixed = (high ^ low) * 0x9E37_79B9_7F4A_7C15L;
    return (int) (mixed >>> 32);
  }

  @Override
  public String toString() {
    char[] text = new char[TEXT_LENGTH];
    write(text, 0, high >>> 32, 8);
    text[8] = '-';
    write(text, 9, high >>> 16, 4);
    text[13] = '-';
    write(text, 14, high, 4);
    text[18] = '-';
    write(text, 19, low >>> 48, 4);
    text[23] = '-';
    write(text, 24, low, 12);
    return new String(text);
  }

  private static void write(char[] text, int at, long value, int digits) {
    for (int i = digits - 1; i >= 0; i--) {
      text[at + i] = Character.forDigit((int) value & 0xF, 16);
      value >>>= 4;
    }
  }
}
