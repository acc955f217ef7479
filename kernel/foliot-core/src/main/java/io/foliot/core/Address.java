package io.foliot.core;

/**
 * The workers that may run a task. The address is part of the task's id ({@link TaskId#address}). Every index entry
 * therefore contains the address, and stores need no code for addresses.
 *
 * @param kind the meaning of the number
 * @param number the number of a seat or zone of the {@link io.foliot.core.coordination.Fleet}, from 0 to
 *     {@value #MAX_NUMBER}; 0 for {@link Kind#ANY}. The number of a seat names one tenancy of a {@link #place}: the
 *     next worker at the place has another number, and does not run the tasks of this one
 */
public record Address(Kind kind, int number) {
  /** Number of places for seats, and maximum number of zones. */
  public static final int PLACES = 2_048;
  /** Number of tenancies of a place. After the last one, the first one follows. */
  public static final int TENANCIES = 64;
  /** Largest number of a seat or zone; the number has 17 bits in a task's id. */
  public static final int MAX_NUMBER = PLACES * TENANCIES - 1;
  /** Any worker of the queue. */
  public static final Address ANYWHERE = new Address(Kind.ANY, 0);

  /** The kinds of addresses. */
  public enum Kind {
    /** Any worker of the queue. */
    ANY(0),
    /** The worker on a seat or, if that worker is gone or disabled, its substitute. */
    SEAT(1),
    /** The worker on a seat or, if that worker is gone or disabled, its substitute in the zone of the seat. */
    ZONE_SEAT(2),
    /** Any worker in a zone. */
    ZONE(3),
    /** The worker on a seat, without a substitute. */
    ONLY(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the code of this kind in ids and stored records. It never changes. */
    public int code() {
      return code;
    }

    /**
     * Returns the kind with a code.
     *
     * @throws IllegalArgumentException if no kind has this code
     */
    public static Kind of(int code) {
      return switch (code) {
        case 0 -> ANY;
        case 1 -> SEAT;
        case 2 -> ZONE_SEAT;
        case 3 -> ZONE;
        case 4 -> ONLY;
        default -> throw new IllegalArgumentException("no kind of address has this code: code=" + code);
      };
    }
  }

  /** @throws IllegalArgumentException if the number is out of range, or is not 0 for {@link Kind#ANY} */
  public Address {
    if (number < 0 || number > MAX_NUMBER || (kind == Kind.ANY && number != 0)) {
      throw new IllegalArgumentException(
          "the number of an address is from 0 to " + MAX_NUMBER + ", and 0 for ANY: kind=" + kind + ", number="
              + number);
    }
  }

  /** Returns the place of a seat with a number. */
  public static int place(int number) {
    return number % PLACES;
  }

  /** Returns whether any worker of the queue may run the task. */
  public boolean isAnywhere() {
    return kind == Kind.ANY;
  }
}
