package io.foliot.store.rocksdb;

import io.foliot.core.store.format.DamagedException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Queues by number: in keys, a number is shorter than a name, and numbers sort. A queue gets its number with its first
 * task and keeps it for ever. The writer assigns numbers; any thread reads them.
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

  /** Returns the name of the queue with a number. */
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

  /** Adds the names that were read when the store was opened. */
  void set(int number, String queue) {
    @Nullable
    String[] grown = Arrays.copyOf(names, Math.max(names.length, number + 1));
    grown[number] = queue;
    names = grown;
    numbers.put(queue, number);
  }
}
