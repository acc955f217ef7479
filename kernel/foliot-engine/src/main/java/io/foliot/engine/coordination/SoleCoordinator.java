package io.foliot.engine.coordination;

import io.foliot.core.coordination.Coordinator;
import java.util.List;

/** The coordinator of a node without a cluster: the node is the only member, and it leads. */
public final class SoleCoordinator implements Coordinator {
  /** Result of {@link #kind}. */
  public static final String KIND = "none";

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public void join(Member self, Listener listener) {
    listener.changed(new View(Connection.CONNECTED, List.of(self), self.node(), null, 0));
  }

  @Override
  public void update(Member self) {
    // There is no other member to inform.
  }

  @Override
  public void publish(byte[] document, long expectedVersion) {
    // There is no other member to read it.
  }

  @Override
  public void close() {
    // No other member waits for this node to leave.
  }
}
