package io.foliot.core.coordination;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Membership, leadership, and one shared document of a cluster. Neither safety nor liveness depends on a coordinator:
 * the claim in the store decides which node runs a task, and the overdue poll finds the tasks of slots without an
 * owner. Any thread may call. No method blocks except {@link #close}.
 */
public interface Coordinator extends AutoCloseable {
  /** Returns the name of the kind of coordinator: {@code none}, {@code store}, {@code zookeeper}. */
  String kind();

  /** Returns whether there may be other members, which share the slots with this member. */
  default boolean isShared() {
    return true;
  }

  /** Registers this member until {@link #close}. After a lost session the coordinator registers it again. */
  void join(Member self, Listener listener);

  /** Publishes a change of this member after {@link #join}. The name of the member must not change. */
  void update(Member self);

  /**
   * Writes the document, if this member leads and the document still has the expected version.
   *
   * @param expectedVersion the version that the document must have, or 0 if there must be no document
   */
  void publish(byte[] document, long expectedVersion);

  /** Leaves at once, so that other members take over without waiting for the end of this member's session. */
  @Override
  void close();

  /**
   * A node.
   *
   * @param node its name, unique in the cluster
   * @param zone its data centre, rack or cell
   * @param takesSlots false while the node should own no slots because it could not fire tasks on time
   * @param clockOffsetMillis the store's clock minus the node's clock
   */
  record Member(String node, String zone, boolean takesSlots, long clockOffsetMillis) {
    /** Creates a member that takes slots. Its clock agrees with the store's clock. */
    public Member(String node, String zone) {
      this(node, zone, true, 0);
    }
  }

  /** The state of the connection to the coordinator. */
  enum Connection {
    /** The coordinator answers. */
    CONNECTED,
    /** The coordinator does not answer for now. A member keeps its slots. */
    SUSPENDED,
    /**
     * The coordinator does not answer, and the session has expired, or must have expired by now. So other members may
     * treat this member as gone. This member keeps its slots until it reads a newer document. It registers again when
     * the coordinator answers.
     */
    LOST,
    /**
     * The coordinator answers, but another process has this member's name: this member owns no slots until that process
     * is gone.
     */
    DISPLACED
  }

  /**
   * The cluster as a member sees it.
   *
   * @param connection the state of the connection to the coordinator
   * @param members the members that are alive, this one included
   * @param leader the name of the leading member, or null if it is not known
   * @param document the document, or null if there is none
   * @param version the document's version, or 0 if there is no document
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by version, never as a whole
  record View(Connection connection, List<Member> members, @Nullable String leader, byte @Nullable [] document,
      long version) {}

  /** Receives changes of the view. A call may be late, and may be repeated. */
  @FunctionalInterface
  interface Listener {
    /** Accepts the newest view. Any thread may call it. */
    void changed(View view);
  }
}
