package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The records as a batch sees them: the committed records, overlaid with the batch's own writes so far. No write is
 * stored until a store writes the {@linkplain #changes net changes}. Not thread-safe.
 *
 * <ol>
 * <li>A read of a record that the batch has written returns the written record; any other read returns the committed
 * record.
 * <li>A live record that is written becomes the task of its key.
 * <li>{@link #get} and {@link #byKey} do not return a record whose retention has ended, though it may still be stored.
 * <li>Several writes of a record are one change, from the committed record to the record written last.
 * </ol>
 */
public final class RecordOverlay implements RecordTable {
  private final CommittedRecords committed;
  private final SequencedMap<TaskId, RecordChange> written = new LinkedHashMap<>();
  private final Map<KeyName, TaskId> holders = new HashMap<>();
  private final SequencedMap<RequestName, Answered> answers = new LinkedHashMap<>();
  private long nowMillis;
  private long largestShown = Generations.NONE;
  private long largestForgotten = Generations.NONE;

  /**
   * Creates an overlay that changes nothing yet.
   *
   * @param nowMillis the store's clock, which decides whether a retention has ended, in milliseconds since 1970
   */
  public RecordOverlay(CommittedRecords committed, long nowMillis) {
    this.committed = committed;
    this.nowMillis = nowMillis;
  }

  /** Sets the clock of the next steps, in milliseconds since 1970, for a batch that takes long. */
  public void advanceTo(long millis) {
    nowMillis = millis;
  }

  /** Returns the record of a task, even if its retention has ended, or null if there is none. */
  public @Nullable TaskRecord stored(TaskId id) {
    RecordChange change = written.get(id);
    return change != null ? change.after() : committed.record(id);
  }

  @Override
  public @Nullable TaskRecord get(TaskId id) {
    TaskRecord record = stored(id);
    return record == null || record.isLive() || record.dropAt() > nowMillis ? record : null;
  }

  @Override
  public @Nullable TaskRecord byKey(String queue, String key) {
    TaskId id = holder(new KeyName(queue, key));
    return id == null ? null : get(id);
  }

  /** Returns the id of the live task of a key, or else of the key's latest known task; null if there is none. */
  public @Nullable TaskId holder(KeyName key) {
    TaskId id = holders.get(key);
    return id != null ? id : committed.holder(key);
  }

  @Override
  public void ensureRoom() {
    committed.ensureRoom();
  }

  @Override
  public void write(@Nullable TaskRecord before, TaskRecord after) {
    RecordChange change = written.get(after.id());
    if (change == null) {
      written.put(after.id(), new RecordChange(before, after));
    } else {
      change.setAfter(after);
    }
    String key = after.key();
    if (key != null && after.isLive() && (before == null || !before.isLive())) {
      holders.put(new KeyName(after.queue(), key), after.id());
    }
    largestShown = Math.max(largestShown, Generations.shown(after));
    largestForgotten = Math.max(largestForgotten, Generations.forgotten(before, after));
  }

  @Override
  public @Nullable Answered answered(String queue, @Nullable String key, String idempotencyKey) {
    RequestName name = new RequestName(queue, key, idempotencyKey);
    Answered answer = answers.get(name);
    return answer != null ? answer : committed.answer(name);
  }

  @Override
  public void remember(String queue, @Nullable String key, String idempotencyKey, Answered answered) {
    answers.put(new RequestName(queue, key, idempotencyKey), answered);
  }

  /** Returns whether there is nothing to write. */
  public boolean isUnchanged() {
    return answers.isEmpty() && written.values().stream().noneMatch(RecordChange::isChange);
  }

  /** Returns whether the batch has written a record. */
  public boolean hasWritten(TaskId id) {
    return written.containsKey(id);
  }

  /** Returns the net changes, in the order in which records were first written. */
  public List<RecordChange> changes() {
    List<RecordChange> changes = new ArrayList<>(written.size());
    for (RecordChange change : written.values()) {
      if (change.isChange()) {
        changes.add(change);
      }
    }
    return changes;
  }

  /** Returns the answers to remember, in the order in which their requests were first remembered. */
  public SequencedMap<RequestName, Answered> answers() {
    return Collections.unmodifiableSequencedMap(answers);
  }

  /** Returns the largest generation that a written record has shown, or {@link Generations#NONE}. */
  public long largestShown() {
    return largestShown;
  }

  /** Returns the largest {@linkplain Generations#forgotten forgotten} generation, or {@link Generations#NONE}. */
  public long largestForgotten() {
    return largestForgotten;
  }

  /** Forgets all that was written, because it is committed now. */
  public void clear() {
    written.clear();
    holders.clear();
    answers.clear();
    largestShown = Generations.NONE;
    largestForgotten = Generations.NONE;
  }
}
