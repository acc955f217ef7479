package io.foliot.bench.store;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import java.util.List;

/** Reports to each node that it is the only node and owns all slots, even if there are several nodes. */
final class OwnerOfAll implements Coordinator {
  private final int slotCount;

  OwnerOfAll(int slotCount) {
    this.slotCount = slotCount;
  }

  @Override
  public String kind() {
    return "bench";
  }

  @Override
  public void join(Member self, Listener listener) {
    List<Member> alone = List.of(self);
    byte[] all = Assignment.none(slotCount).with(alone, slotCount).encode();
    listener.changed(new View(Connection.CONNECTED, alone, self.node(), all, 1));
  }

  @Override
  public void update(Member self) {}

  @Override
  public void publish(byte[] document, long expectedVersion) {}

  @Override
  public void close() {}
}
