package io.foliot.core.coordination;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Membership, leadership, and one shared document. Nothing a coordinator says is needed for safety, nor for liveness:
 * the claim in the store decides, and the overdue poll fires the tasks of slots without an owner. Any thread may call;
 * no method blocks.
 */
public interface Coordinator extends AutoCloseable {
  /** A word for people: {@code none}, {@code store}, {@code zookeeper}. */
  String kind();

  /** Returns whether there may be other members, with whom this one shares the slots. */
  default boolean isShared() {
    return true;
  }

  /** Becomes a member, and stays one for ever: after a lost session it registers again. */
  void join(Member self, Listener listener);

  /** Tells the others what has changed about this member since it joined: never its name. */
  void update(Member self);

  /**
   * Writes the document, if this member leads and the document's version is still the one given.
   *
   * @param expectedVersion 0 if there is none
   */
  void publish(byte[] document, long expectedVersion);

  /** Leaves at once, so that the others take over without waiting for a session to end. */
  @Override
  void close();

  /**
   * A node.
   *
   * @param node its name, unique in the cluster
   * @param zone its data centre, rack or cell
   * @param takesSlots false while it should have none, because it is not to be trusted with being on time
   * @param clockOffsetMillis by how much the store's clock is ahead of its own
   */
  record Member(String node, String zone, boolean takesSlots, long clockOffsetMillis) {
    /** A member that takes slots, and whose clock is right. */
    public Member(String node, String zone) {
      this(node, zone, true, 0);
    }
  }

  /** The state of the connection to the coordinator. */
  enum Connection {
    /** It answers. */
    CONNECTED,
    /** It does not answer for the moment. What a member has it keeps. */
    SUSPENDED,
    /**
     * It does not answer, and the session is over, or must be: others may have registered this member as gone. What it
     * has it keeps until it reads a newer document; membership begins anew when the coordinator answers again.
     */
    LOST,
    /** It answers, and another process has this member's name: this one has nothing until that one is gone. */
    DISPLACED
  }

  /**
   * The cluster as a member sees it.
   *
   * @param connection how the coordinator is reached
   * @param members the members that are alive, this one included
   * @param leader the name of the leading member, or null if it is not known
   * @param document the document, or null if there is none
   * @param version its version, or 0
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by version, never as a whole
  record View(Connection connection, List<Member> members, @Nullable String leader, byte @Nullable [] document,
      long version) {}

  /** Told of each change, possibly late and possibly twice. */
  @FunctionalInterface
  interface Listener {
    /** The newest view; any thread. */
    void changed(View view);
  }
}
