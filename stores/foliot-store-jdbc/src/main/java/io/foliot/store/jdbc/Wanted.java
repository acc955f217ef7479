package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a step has to read. One thread. */
final class Wanted {
  private final Set<TaskId> ids = new LinkedHashSet<>();
  private final Set<KeyName> keys = new LinkedHashSet<>();
  private final Set<RequestName> requests = new LinkedHashSet<>();

  void id(TaskId id) {
    ids.add(id);
  }

  void key(String queue, @Nullable String key) {
    if (key != null) {
      keys.add(new KeyName(queue, key));
    }
  }

  void ref(TaskRef ref) {
    switch (ref) {
      case TaskRef.ById byId -> id(byId.id());
      case TaskRef.ByKey byKey -> key(byKey.queue(), byKey.key());
    }
  }

  void request(RequestName request) {
    requests.add(request);
  }

  Set<TaskId> ids() {
    return ids;
  }

  Set<KeyName> keys() {
    return keys;
  }

  Set<RequestName> requests() {
    return requests;
  }
}
