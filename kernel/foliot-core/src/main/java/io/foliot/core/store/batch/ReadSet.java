package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * Collects the names of the records that a batch reads: each name once, in the order of the items. Not thread-safe.
 */
public final class ReadSet implements Reads {
  private final SequencedSet<TaskId> ids = new LinkedHashSet<>();
  private final SequencedSet<KeyName> keys = new LinkedHashSet<>();
  private final SequencedSet<RequestName> requests = new LinkedHashSet<>();

  /** Creates an empty set. */
  public ReadSet() {}

  @Override
  public void id(TaskId id) {
    ids.add(id);
  }

  @Override
  public void key(KeyName key) {
    keys.add(key);
  }

  @Override
  public void request(RequestName request) {
    requests.add(request);
  }

  /** Returns the ids. */
  public SequencedSet<TaskId> ids() {
    return Collections.unmodifiableSequencedSet(ids);
  }

  /** Returns the keys. */
  public SequencedSet<KeyName> keys() {
    return Collections.unmodifiableSequencedSet(keys);
  }

  /** Returns the requests. */
  public SequencedSet<RequestName> requests() {
    return Collections.unmodifiableSequencedSet(requests);
  }
}
