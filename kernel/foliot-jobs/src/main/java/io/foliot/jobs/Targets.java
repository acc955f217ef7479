package io.foliot.jobs;

import static java.util.Objects.requireNonNull;

import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.core.Address;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The targets of a run's shards. They are chosen when the run begins and never change, because they are part of the ids
 * of the shards. Immutable.
 *
 * @param groups with {@link Scope#PER_ZONE}, one group of shards for each zone, else one group of all shards; empty if
 *     any worker may run any shard. All groups have the same size
 */
record Targets(List<Group> groups) {
  /** Any worker of the queue may run any shard. */
  static final Targets NONE = new Targets(List.of());

  // Encodings of the numbers of a group. Each begins with a table of the distinct numbers.
  /**
   * Encoding in which the shards have the numbers of the table in turn: after the last number, the first number
   * follows.
   */
  private static final int CYCLE = 0;
  /**
   * Encoding in which the numbers of the table have blocks of shards, in order and of equal size. If shards remain
   * after the last block, they have the numbers of the table in order again, one number each.
   */
  private static final int BLOCKS = 1;
  /**
   * Encoding that has, for each shard, the index of the shard's number in the table. Each index has as many bits as the
   * largest index needs.
   */
  private static final int PACKED = 2;

  /**
   * A group of shards, each with an address.
   *
   * @param zone the name of the zone of the shards, or empty if they are not divided by zones
   * @param kind the kind of the addresses
   * @param numbers for each shard, the number in its address: the number of a seat or of a zone, depending on the kind
   */
  record Group(String zone, Address.Kind kind, List<Integer> numbers) {
    Group {
      numbers = List.copyOf(numbers);
    }
  }

  Targets {
    groups = List.copyOf(groups);
  }

  boolean isNone() {
    return groups.isEmpty();
  }

  /** Returns whether each shard belongs to one worker without a substitute. */
  boolean isOnly() {
    return !groups.isEmpty() && groups.getFirst().kind() == Address.Kind.ONLY;
  }

  /** Returns how many shards there are; 0 if none has an address. */
  int shards() {
    return groups.isEmpty() ? 0 : groups.size() * groupSize();
  }

  /** Returns how many shards each group has; there must be groups. */
  int groupSize() {
    return groups.getFirst().numbers().size();
  }

  /** Returns the number of a shard within its group. */
  int numberInZone(int shard) {
    return groups.isEmpty() ? shard : shard % groupSize();
  }

  Address address(int shard) {
    if (groups.isEmpty()) {
      return Address.ANYWHERE;
    }
    Group group = group(shard);
    return new Address(group.kind(), group.numbers().get(numberInZone(shard)));
  }

  /**
   * The zone and the address of a shard.
   *
   * @param zone the name of the shard's zone, or empty
   */
  record Place(String zone, Address address) {}

  Place place(int shard) {
    return new Place(group(shard).zone(), address(shard));
  }

  /** Returns the group of a shard; there must be groups. */
  Group group(int shard) {
    return groups.get(shard / groupSize());
  }

  /** Returns how many bytes {@link #write} writes. */
  int bytes() {
    Bytes out = new Bytes(64);
    write(out);
    return out.length();
  }

  /** Writes the targets. Evenly divided shards take a few bytes per worker, others some bits per shard. */
  void write(Bytes out) {
    out.varint(groups.size());
    for (Group group : groups) {
      out.text(group.zone()).u8(group.kind().code());
      writeNumbers(group.numbers(), out);
    }
  }

  private static void writeNumbers(List<Integer> numbers, Bytes out) {
    List<Integer> table = List.copyOf(new LinkedHashSet<>(numbers));
    int mode = matches(CYCLE, numbers, table) ? CYCLE : matches(BLOCKS, numbers, table) ? BLOCKS : PACKED;
    if (mode == PACKED) {
      table = table.stream().sorted().toList();
    }
    out.u8(mode).varint(numbers.size()).varint(table.size());
    int previous = 0;
    for (int number : table) {
      out.near(number - previous);
      previous = number;
    }
    if (mode == PACKED) {
      pack(numbers, table, out);
    }
  }

  private static boolean matches(int mode, List<Integer> numbers, List<Integer> table) {
    for (int i = 0; i < numbers.size(); i++) {
      if (!numbers.get(i).equals(table.get(place(mode, i, numbers.size(), table.size())))) {
        return false;
      }
    }
    return true;
  }

  private static int place(int mode, int shard, int shards, int tableSize) {
    int block = shards / tableSize;
    return mode == CYCLE
        ? shard % tableSize
        : shard < block * tableSize ? shard / block : shard - block * tableSize;
  }

  private static int bitsOf(int tableSize) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(tableSize - 1);
  }

  /**
   * Writes the index of each number in the table. Each index has the same number of bits, and fills the low bits of a
   * byte first.
   */
  private static void pack(List<Integer> numbers, List<Integer> table, Bytes out) {
    Map<Integer, Integer> places = new HashMap<>();
    for (int i = 0; i < table.size(); i++) {
      places.put(table.get(i), i);
    }
    int bits = bitsOf(table.size());
    int held = 0;
    int count = 0;
    for (int number : numbers) {
      held |= requireNonNull(places.get(number)) << count;
      for (count += bits; count >= Byte.SIZE; count -= Byte.SIZE) {
        out.u8(held & 0xFF);
        held >>>= Byte.SIZE;
      }
    }
    if (count > 0) {
      out.u8(held);
    }
  }

  /**
   * Reads targets that {@link #write} has written.
   *
   * @throws IllegalArgumentException if the bytes do not encode targets
   */
  static Targets read(BytesReader in) {
    List<Group> groups = new ArrayList<>();
    Set<Integer> sizes = new HashSet<>();
    for (int left = in.varint(); left > 0; left--) {
      Group group = new Group(in.text(), Address.Kind.of(in.u8()), readNumbers(in));
      sizes.add(group.numbers().size());
      groups.add(group);
    }
    if (sizes.size() > 1 || sizes.contains(0)) {
      throw new IllegalArgumentException("all groups of targets must have the same size: sizes=" + sizes);
    }
    return new Targets(groups);
  }

  private static List<Integer> readNumbers(BytesReader in) {
    int mode = in.u8();
    int size = in.varint();
    int tableSize = in.varint();
    if (mode > PACKED || size > Job.MAX_SHARDS || tableSize < 1 || tableSize > size) {
      throw new IllegalArgumentException(
          "targets cannot be read: mode=" + mode + ", shards=" + size + ", numbers=" + tableSize);
    }
    int[] table = new int[tableSize];
    long previous = 0;
    for (int i = 0; i < tableSize; i++) {
      previous += in.near();
      if ((int) previous != previous) {
        throw new IllegalArgumentException("targets cannot be read: number=" + previous);
      }
      table[i] = new Address(Address.Kind.SEAT, (int) previous).number();
    }
    List<Integer> numbers = new ArrayList<>(size);
    int bits = bitsOf(tableSize);
    int held = 0;
    int count = 0;
    for (int i = 0; i < size; i++) {
      if (mode == PACKED) {
        for (; count < bits; count += Byte.SIZE) {
          held |= in.u8() << count;
        }
        numbers.add(table[held & ((1 << bits) - 1)]);
        held >>>= bits;
        count -= bits;
      } else {
        numbers.add(table[place(mode, i, size, tableSize)]);
      }
    }
    return numbers;
  }
}
