package io.foliot.core.coordination;

import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The owner node of each slot. Immutable.
 *
 * <p>An assignment only divides the work. If nodes have different assignments, or none, no task is lost and none is
 * claimed twice.
 */
public final class Assignment {
  private static final String SUBJECT = "slot assignment";
  /** Maximum number of nodes; their indexes are stored as shorts. */
  private static final int MAX_NODES = Short.MAX_VALUE;
  private static final int MAX_SLOTS = 1 << 16;
  private static final int NOBODY = -1;

  private final List<String> nodes;
  /** For each slot, the index of its owner in {@link #nodes}, or {@link #NOBODY}. */
  private final short[] owners;

  private Assignment(List<String> nodes, short[] owners) {
    this.nodes = nodes;
    this.owners = owners;
  }

  /** Returns an assignment in which no member owns a slot. */
  public static Assignment none(int slotCount) {
    short[] owners = new short[slotCount];
    Arrays.fill(owners, (short) NOBODY);
    return new Assignment(List.of(), owners);
  }

  /**
   * Creates an assignment with the given owners.
   *
   * @param owners the owner of each slot, by the index of the slot; null for a slot without an owner
   */
  public static Assignment of(List<@Nullable String> owners) {
    Set<String> names = new TreeSet<>();
    for (String owner : owners) {
      if (owner != null) {
        names.add(owner);
      }
    }
    List<String> nodes = List.copyOf(names);
    short[] places = new short[owners.size()];
    for (int slot = 0; slot < places.length; slot++) {
      String owner = owners.get(slot);
      places[slot] = (short) (owner == null ? NOBODY : nodes.indexOf(owner));
    }
    return new Assignment(nodes, places);
  }

  public int slotCount() {
    return owners.length;
  }

  /**
   * Returns the owner of a slot, or null if the slot has none. If the store has doubled its slots since the assignment
   * was made, a new slot has the owner of the old slot from which it was split.
   */
  public @Nullable String owner(int slot) {
    int owner = owners.length == 0 ? NOBODY : owners[slot % owners.length];
    return owner == NOBODY ? null : nodes.get(owner);
  }

  /**
   * Returns the position of a node in the order of a slot's helpers. The helpers poll the slot if its owner is gone and
   * no new assignment can be made. All nodes compute the same order for a slot. The order differs from slot to slot, so
   * all nodes share the slots of a dead node.
   *
   * @return 0 for the first helper
   */
  public int helpersBefore(int slot, String node) {
    String owner = owner(slot);
    long own = helperRank(slot, node);
    int before = 0;
    for (String other : nodes) {
      if (!other.equals(node) && !other.equals(owner)) {
        long rank = helperRank(slot, other);
        before += rank < own || (rank == own && other.compareTo(node) < 0) ? 1 : 0;
      }
    }
    return before;
  }

  /** Applies the finalizer of MurmurHash3 to the slot and the hash of the node. */
  private static long helperRank(int slot, String node) {
    long bits = (long) slot << 32 ^ node.hashCode();
    bits = (bits ^ bits >>> 33) * 0xff51afd7ed558ccdL;
    bits = (bits ^ bits >>> 33) * 0xc4ceb9fe1a85ec53L;
    return bits ^ bits >>> 33;
  }

  /** Returns the bytes of this assignment as the content of a document. */
  public byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.varint(nodes.size());
      nodes.forEach(out::text);
      out.varint(owners.length);
      for (short owner : owners) {
        out.near(owner);
      }
    });
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws UnreadableException if the content cannot be read; the class of the exception says why
   */
  public static Assignment decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, Assignment::read);
  }

  private static Assignment read(BytesReader in) {
    int nodeCount = ensureCount("nodes", in.varint(), MAX_NODES);
    List<String> nodes = new ArrayList<>();
    for (int i = 0; i < nodeCount; i++) {
      nodes.add(in.text());
    }
    short[] owners = new short[ensureCount("slots", in.varint(), MAX_SLOTS)];
    for (int slot = 0; slot < owners.length; slot++) {
      long owner = in.near();
      if (owner < NOBODY || owner >= nodes.size()) {
        throw new IllegalArgumentException(
            "the owner of a slot is not an index of a node: slot=" + slot + ", owner=" + owner);
      }
      owners[slot] = (short) owner;
    }
    return new Assignment(List.copyOf(nodes), owners);
  }

  private static int ensureCount(String what, int count, int max) {
    if (count < 0 || count > max) {
      throw new IllegalArgumentException("an assignment has too many " + what + ": count=" + count + ", max=" + max);
    }
    return count;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Assignment that && nodes.equals(that.nodes) && Arrays.equals(owners, that.owners);
  }

  @Override
  public int hashCode() {
    return 31 * nodes.hashCode() + Arrays.hashCode(owners);
  }

  /** Returns the slots that a node owns; an empty set if there are none. */
  public BitSet slotsOf(String node) {
    BitSet slots = new BitSet();
    int place = nodes.indexOf(node);
    for (int slot = 0; slot < owners.length; slot++) {
      if (place >= 0 && owners[slot] == place) {
        slots.set(slot);
      }
    }
    return slots;
  }

  /**
   * Returns an assignment to the current members, with an even division and few changes of owners.
   *
   * <ul>
   * <li><b>Even.</b> All members get the same number of slots, except that some have one more. So a zone gets slots in
   * proportion to its members.
   * <li><b>Sticky.</b> A slot stays with its owner as long as the owner is a member and has no more than its share.
   * A member that must give up slots gives up its slots with the highest numbers.
   * <li><b>Spread over zones.</b> Neighbouring slots go to different zones where there is a choice. So the loss of a
   * zone leaves no long run of slots without an owner.
   * </ul>
   *
   * <p>This is a pure function: the same assignment and the same members, in any order, give the same result on every
   * node.
   *
   * @param members members that may own slots; if there are none, no slot has an owner
   * @param newSlotCount the number of slots of this assignment, or that number times a power of two. At first, a new
   *     slot has the owner of the old slot from which it was split
   */
  public Assignment with(Collection<Coordinator.Member> members, int newSlotCount) {
    List<Coordinator.Member> sorted = members.stream().sorted(Comparator.comparing(Coordinator.Member::node)).toList();
    if (sorted.isEmpty()) {
      return none(newSlotCount);
    }
    List<String> names = sorted.stream().map(Coordinator.Member::node).toList();
    int[] quotas = quotas(names, newSlotCount);
    int[] has = new int[names.size()];
    short[] next = new short[newSlotCount];
    List<Integer> free = new ArrayList<>();
    for (int slot = 0; slot < newSlotCount; slot++) {
      String owner = owners.length == 0 ? null : owner(slot % owners.length);
      int place = owner == null ? NOBODY : names.indexOf(owner);
      if (place != NOBODY && has[place] < quotas[place]) {
        next[slot] = (short) place;
        has[place]++;
      } else {
        next[slot] = NOBODY;
        free.add(slot);
      }
    }
    List<Integer> takers = takers(sorted, quotas, has);
    for (int i = 0; i < free.size(); i++) {
      next[free.get(i)] = takers.get(i).shortValue();
    }
    return new Assignment(names, next);
  }

  /** Returns the number of slots that each member gets. The remainder goes to the members that own the most slots. */
  private int[] quotas(List<String> names, int slotCount) {
    int[] current = new int[names.size()];
    for (int slot = 0; slot < slotCount && owners.length > 0; slot++) {
      String owner = owner(slot % owners.length);
      int place = owner == null ? NOBODY : names.indexOf(owner);
      if (place != NOBODY) {
        current[place]++;
      }
    }
    int[] quotas = new int[names.size()];
    Arrays.fill(quotas, slotCount / names.size());
    List<Integer> places = new ArrayList<>();
    for (int place = 0; place < current.length; place++) {
      places.add(place);
    }
    places.sort(Comparator.comparingInt((Integer place) -> -current[place]).thenComparing(names::get));
    for (int i = 0; i < slotCount % names.size(); i++) {
      quotas[places.get(i)]++;
    }
    return quotas;
  }

  /**
   * Returns the index of the member that gets each free slot, in the order of the free slots. The zones take turns, and
   * within a zone its members take turns.
   */
  private static List<Integer> takers(List<Coordinator.Member> members, int[] quotas, int[] has) {
    Map<String, List<Integer>> byZone = new TreeMap<>();
    for (int place = 0; place < members.size(); place++) {
      byZone.computeIfAbsent(members.get(place).zone(), none -> new ArrayList<>()).add(place);
    }
    Map<String, Integer> turns = new HashMap<>();
    List<Integer> takers = new ArrayList<>();
    int[] left = new int[quotas.length];
    int missing = 0;
    for (int place = 0; place < left.length; place++) {
      left[place] = quotas[place] - has[place];
      missing += left[place];
    }
    while (takers.size() < missing) {
      for (Map.Entry<String, List<Integer>> zone : byZone.entrySet()) {
        int turn = turns.getOrDefault(zone.getKey(), 0);
        List<Integer> places = zone.getValue();
        for (int i = 0; i < places.size(); i++) {
          int place = places.get((turn + i) % places.size());
          if (left[place] > 0) {
            left[place]--;
            takers.add(place);
            turns.put(zone.getKey(), turn + i + 1);
            break;
          }
        }
      }
    }
    return takers;
  }
}
