package io.foliot.sim;

import java.util.SortedMap;
import java.util.TreeMap;

/** Counts the cases that a run reaches. A case that no run reaches is not tested. */
final class Coverage {
  /** The cases. Each of them must occur in some runs. */
  enum Case {
    KILL, PAUSE_BEYOND_A_LEASE, SHORT_PAUSE, GRACEFUL_STOP, RESTART, CLOCK_SET_FORWARD, CLOCK_SET_BACK,
    /** A node cannot reach the store. */
    CUT_FROM_STORE,
    /** A node cannot reach the coordinator. */
    CUT_FROM_COORDINATION,
    /** The coordinator itself is unreachable. */
    COORDINATION_AWAY,
    /** A node was killed while the coordinator, and nothing else, was unreachable. */
    KILL_WITHOUT_COORDINATOR,
    /** A node was notified that its session has ended. */
    SESSION_LOST,
    /** A session ended long after its timeout. */
    SESSION_EXPIRED_LATE,
    /** A notification arrived twice. */
    NOTIFIED_TWICE,
    /** A notification arrived after a newer one. */
    NOTIFIED_OUT_OF_ORDER,
    /** Every node was notified that it is the leader and owns all slots. */
    ALL_NOTIFIED_AS_LEADERS,
    /** The nodes together owned more slots than exist. */
    SLOT_WITH_TWO_OWNERS,
    /** The nodes together owned fewer slots than exist. */
    SLOT_WITHOUT_OWNER,
    /** A task was claimed by a node that does not own its slot. */
    CLAIMED_BY_NON_OWNER, STORE_AWAY, STORE_FAILOVER, LIMIT_REACHED, MACHINE_ASLEEP, MACHINE_ASLEEP_LONG,
    /** A failover lost acknowledged writes. */
    WRITES_FORGOTTEN,
    /** A failover lost a write of a client. */
    CLIENT_WRITE_FORGOTTEN,
    /** A failover lost claims. */
    CLAIM_FORGOTTEN,
    /** A call failed and had no effect. */
    NO_EFFECT,
    /** A call took effect after it had failed for its caller. */
    EFFECT_AFTER_FAILURE,
    /** A call took effect later than it was decided. */
    EFFECT_AFTER_DECISION,
    /** A record changed between the decision and the effect of a call, so the call was decided again. */
    DECIDED_AGAIN,
    /** A lease ended between the decision and the effect of its extension, and became longer. */
    LEASE_EXTENDED_AFTER_ITS_END,
    /** A lease ended between the decision and the effect of its extension, and its record changed in that time. */
    EXTENSION_DECIDED_AGAIN_AFTER_THE_END,
    /** A transaction made a task visible after it was due. */
    COMMIT_AFTER_DUE,
    /**
     * A transaction made a task visible more than two seconds after it was due. The most frequent head polls do not
     * read entries that old.
     */
    COMMIT_FAR_BEHIND_CURSOR, CLAIM_WON, CLAIM_LATER, CLAIM_GONE, PARKED_READ_BACK, CLAIM_AFTER_LEASE_END,
    /** A move, which wins nothing, found that a task can be claimed. */
    MOVE_FOUND_READY,
    /** A node had no handler for a due task. */
    PARKED_WITHOUT_HANDLER, PARKED, SETTLE_REFUSED, SETTLE_REPEATED, DEAD_LETTER, RESET_OF_RUNNING, CANCEL_OF_RUNNING, SUBMIT_REPEATED, SUBMIT_KEPT, SUBMIT_REJECTED, REDRIVEN, QUEUE_PAUSED, QUEUE_DELETED,
    /** A queue was not deleted because it had live tasks. */
    DELETION_REFUSED, REFUSED_BY_OVERLOAD, DELIVERY_THREW, DELIVERY_NEVER_ANSWERED, REPORTED_LATER, REPORTED_TWICE
  }

  private final SortedMap<String, Long> counts = new TreeMap<>();

  Coverage() {
    for (Case each : Case.values()) {
      counts.put(each.name(), 0L);
    }
    for (Call call : Call.values()) {
      counts.put(lostReplyOf(call), 0L);
    }
  }

  private static String lostReplyOf(Call call) {
    return "LOST_REPLY_OF_" + call;
  }

  void count(Case one) {
    counts.merge(one.name(), 1L, Long::sum);
  }

  /** Counts a call that took effect, but whose reply was lost. */
  void countLostReply(Call call) {
    counts.merge(lostReplyOf(call), 1L, Long::sum);
  }

  SortedMap<String, Long> counts() {
    return new TreeMap<>(counts);
  }
}
