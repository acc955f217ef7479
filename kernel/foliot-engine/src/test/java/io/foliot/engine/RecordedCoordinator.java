package io.foliot.engine;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A coordinator that records its calls. The test reports views to the member. */
final class RecordedCoordinator implements Coordinator {
  final List<Assignment> published = new ArrayList<>();
  final List<Member> updates = new ArrayList<>();
  boolean isShared = true;
  boolean isClosed;
  @Nullable
  Member joined;
  private @Nullable Listener listener;

  @Override
  public String kind() {
    return "recorded";
  }

  @Override
  public boolean isShared() {
    return isShared;
  }

  @Override
  public void join(Member self, Listener changes) {
    joined = self;
    listener = changes;
  }

  @Override
  public void update(Member self) {
    updates.add(self);
  }

  @Override
  public void publish(byte[] document, long expectedVersion) {
    published.add(Assignment.decode(document));
  }

  @Override
  public void close() {
    isClosed = true;
  }

  /** Reports a view to the member that has joined. */
  void report(View view) {
    if (listener == null) {
      throw new AssertionError("no member has joined");
    }
    listener.changed(view);
  }

  static View connected(byte @Nullable [] document, @Nullable String leader, String... members) {
    return new View(Connection.CONNECTED, Stream.of(members).map(name -> new Member(name, "")).toList(), leader,
        document, document == null ? 0 : 1);
  }

  static View without(Connection connection) {
    return new View(connection, List.of(), null, null, 0);
  }
}
