package io.foliot.store.rocksdb;

import io.foliot.core.store.format.DamagedException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of the queues. Keys hold a number because it is shorter than a name and has a fixed length. A queue gets
 * its number with its first task and keeps it forever. The writer assigns numbers; any thread reads them.
 */
final class Queues {
  private static final int NONE = -1;

  private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
  // written by the writer, read by any thread
  private volatile @Nullable String[] names = new String[0];

  /** Returns the number of a queue, or -1 if the queue never had a task. */
  int number(String queue) {
    Integer number = numbers.get(queue);
    return number == null ? NONE : number;
  }

  /** Returns the name of the queue with this number; throws {@link DamagedException} if there is none. */
  String name(int number) {
    @Nullable
    String[] all = names;
    String name = number >= 0 && number < all.length ? all[number] : null;
    if (name == null) {
      throw new DamagedException("a record or an entry names a queue that does not exist: number=" + number, null);
    }
    return name;
  }

  int count() {
    return names.length;
  }

  /** Assigns the next number to a queue that has none. */
  int add(String queue) {
    int number = names.length;
    set(number, queue);
    return number;
  }

  /** Adds a queue with its number, as read when the store is opened or as assigned by {@link #add}. */
  void set(int number, String queue) {
    @Nullable
    String[] grown = Arrays.copyOf(names, Math.max(names.length, number + 1));
    grown[number] = queue;
    names = grown;
    numbers.put(queue, number);
  }
}
