package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TermsByQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call with many items on a store that other processes write at the same time: read, decide, compare and set, and
 * repeat. The place of an item is its index in the call.
 *
 * <ol>
 * <li>The store reads {@linkplain #reads the records that the items name}, together with its clock.
 * <li>{@link #decide} groups the items by key, request or task into units, and applies the step to an overlay of these
 * records. An item that would change a record written by a newer version of Foliot gets a result without a change, or
 * fails. An item that is refused fails too, and the other items of its unit go on.
 * <li>The store writes each unit whose records have not changed since the read, and calls {@link #answer}. The effect
 * is as if such a unit was written at the instant of the read.
 * <li>The items of the other units begin again with the first step.
 * </ol>
 *
 * <p>A store that handles some items in another way sets their results by {@link #answer(int, Object)}. Several threads
 * may do so for different items if these calls happen before {@link #results}.
 *
 * <p>Locks on the records from the read to the write were rejected. A lock delays other callers for a round trip, and
 * for longer if the node with the lock stalls.
 *
 * @param <Q> an item of the request
 * @param <R> the result of an item
 */
public final class OptimisticBatch<Q, R> {
  private final BatchStep<Q, R> step;
  private final List<Q> items;
  private final @Nullable Object[] results;
  private final boolean[] refused;
  private final AtomicReference<@Nullable StoreException> failure = new AtomicReference<>();

  /** Creates a batch in which no item has a result yet. */
  public OptimisticBatch(BatchStep<Q, R> step, List<Q> items) {
    this.step = step;
    this.items = items;
    results = new @Nullable Object[items.size()];
    refused = new boolean[items.size()];
  }

  /** Returns the records that the items at these places read. */
  public ReadSet reads(List<Integer> places) {
    ReadSet reads = new ReadSet();
    places.forEach(place -> step.wants(items.get(place), reads));
    return reads;
  }

  /**
   * Returns the results of the items at these places, unit by unit. An item that would change a record written by a
   * newer version of Foliot gets its result here, or fails, and belongs to no unit.
   *
   * @param nowMicros the store's clock at the read, in microseconds since 1970
   * @param floor the smallest generation that may be assigned
   */
  public List<BatchUnit<R>> decide(List<Integer> places, CommittedRecords read, long nowMicros, long floor,
      Supplier<Token> tokens, TermsByQueue terms) {
    Map<Object, List<Integer>> byUnit = new LinkedHashMap<>();
    UnitFinder finder = new UnitFinder(read);
    for (Integer place : places) {
      Q item = items.get(place);
      Object unit = finder.find(step, item);
      if (finder.foundNewerVersion && step.changes(item)) {
        answerNewerVersion(place, nowMicros);
      } else {
        byUnit.computeIfAbsent(unit, none -> new ArrayList<>()).add(place);
      }
    }
    List<BatchUnit<R>> units = new ArrayList<>(byUnit.size());
    byUnit.values().forEach(some -> {
      RecordOverlay overlay = new RecordOverlay(read, Math.floorDiv(nowMicros, 1_000));
      TaskOperations operations = new TaskOperations(overlay, tokens, terms, floor);
      units.add(new BatchUnit<>(some, apply(operations, some, nowMicros), overlay));
    });
    return units;
  }

  /** Applies the step to the items of a unit. An item that is refused has no result, and the batch fails for it. */
  @SuppressWarnings("unchecked") // the results are those of the step
  private List<@Nullable R> apply(TaskOperations operations, List<Integer> places, long nowMicros) {
    List<@Nullable R> applied;
    try {
      return (List<@Nullable R>) step.apply(operations, places.stream().map(items::get).toList(), nowMicros);
    } catch (ItemsFailedException e) {
      applied = (List<@Nullable R>) e.results();
      fail(e.failure());
    } catch (StoreException e) {
      applied = Collections.nCopies(places.size(), null);
      fail(e);
    }
    for (int i = 0; i < places.size(); i++) {
      refused[places.get(i)] |= applied.get(i) == null;
    }
    return applied;
  }

  private void answerNewerVersion(int place, long nowMicros) {
    results[place] = step.ofNewerVersion(items.get(place), nowMicros);
    if (results[place] == null) {
      refuse(place, new StoreAwayException(
          "a newer version of Foliot wrote the task, and only that version can change it; call a node that runs it",
          null));
    }
  }

  /** Sets the results of the items of a unit that was written or has nothing to write. Refused items have none. */
  public void answer(BatchUnit<R> unit) {
    for (int i = 0; i < unit.places().size(); i++) {
      results[unit.places().get(i)] = unit.results().get(i);
    }
  }

  /** Sets the result of one item. */
  public void answer(int place, R result) {
    results[place] = result;
  }

  /** Returns the result of an item so far, or null if it has none. */
  @SuppressWarnings("unchecked") // only results of R are put there
  public @Nullable R result(int place) {
    return (R) results[place];
  }

  /** Returns whether an item is still to be done: it has no result, and was not refused. */
  public boolean isOpen(int place) {
    return results[place] == null && !refused[place];
  }

  /** Returns the places of the items that are still to be done. */
  public List<Integer> open() {
    List<Integer> places = new ArrayList<>();
    for (int place = 0; place < results.length; place++) {
      if (isOpen(place)) {
        places.add(place);
      }
    }
    return places;
  }

  /**
   * Removes the result of an item. A caller does this if the effect of the item may not last, and also calls {@link
   * #fail}.
   */
  public void withdraw(int place) {
    results[place] = null;
  }

  /** Refuses an item, and leaves the others: it gets no result, and is not done again. */
  public void refuse(int place, StoreException reason) {
    results[place] = null;
    refused[place] = true;
    fail(reason);
  }

  /**
   * Records why items without a result fail, while other items continue. Of several failures, one with an unknown
   * effect takes precedence over one without an effect. Any thread may call this method.
   */
  public void fail(StoreException reason) {
    failure.accumulateAndGet(reason, ItemsFailedException::either);
  }

  /**
   * Returns the result of each item, in the order of the items.
   *
   * @throws StoreException if items have failed; an {@link ItemsFailedException} if other items have a result
   */
  @SuppressWarnings("unchecked") // only results of R are put there
  public List<R> results() {
    StoreException reason = failure.get();
    if (reason != null) {
      throw ItemsFailedException.of(Arrays.asList(results), reason);
    }
    assert open().isEmpty() : "an item has no result: places=" + open();
    return (List<R>) Arrays.asList(results);
  }

  /**
   * Finds the unit of an item: its key, or else its request, or else its task. An item that names none of them is a
   * unit of its own. Not thread-safe.
   */
  private static final class UnitFinder implements Reads {
    private final CommittedRecords read;
    private @Nullable Object key;
    private @Nullable Object request;
    private @Nullable Object task;
    private boolean foundNewerVersion;

    UnitFinder(CommittedRecords read) {
      this.read = read;
    }

    <Q> Object find(BatchStep<Q, ?> step, Q item) {
      key = null;
      request = null;
      task = null;
      foundNewerVersion = false;
      step.wants(item, this);
      Object unit = key != null ? key : request != null ? request : task;
      return unit != null ? unit : new Object();
    }

    @Override
    public void id(TaskId id) {
      foundNewerVersion |= read.isOfNewerVersion(id);
      TaskRecord record = read.record(id);
      String name = record == null ? null : record.key();
      if (record == null || name == null) {
        task = id;
      } else {
        key(new KeyName(record.queue(), name));
      }
    }

    @Override
    public void child(TaskId id) {
      // Units may insert the same child: the store ignores the second insert.
    }

    @Override
    public void key(KeyName name) {
      key = name;
      TaskId holder = read.holder(name);
      foundNewerVersion |= holder != null && read.isOfNewerVersion(holder);
    }

    @Override
    public void request(RequestName name) {
      request = name;
    }
  }
}
