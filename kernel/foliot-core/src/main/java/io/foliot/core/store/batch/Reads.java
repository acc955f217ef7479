package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;

/** Receives the names of the records that an item of a batch reads. */
public interface Reads {
  /** Names a record by its id. */
  void id(TaskId id);

  /**
   * Names a record that the item inserts unless the record exists. The item's {@link BatchUnit} does not depend on this
   * record.
   */
  default void child(TaskId id) {
    id(id);
  }

  /** Names the task that has a key, or had it last. */
  void key(KeyName key);

  /** Names the answer to a request. */
  void request(RequestName request);

  /** Names a task by a caller's reference. */
  default void ref(TaskRef ref) {
    switch (ref) {
      case TaskRef.ById byId -> id(byId.id());
      case TaskRef.ByKey byKey -> key(new KeyName(byKey.queue(), byKey.key()));
    }
  }
}
