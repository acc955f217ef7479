package io.foliot.sim;

import java.util.SortedMap;
import java.util.TreeMap;

/** Counts what a run came across: a promise that was kept where nothing threatened it proves nothing. */
final class Coverage {
  /** The events that must occur in some run. */
  enum Case {
    KILL, PAUSE_BEYOND_A_LEASE, SHORT_PAUSE, GRACEFUL_STOP, RESTART, CLOCK_SET_FORWARD, CLOCK_SET_BACK,
    /** A node cannot reach the store. */
    CUT_FROM_STORE,
    /** A node cannot reach the coordinator. */
    CUT_FROM_COORDINATION,
    /** The coordinator itself is unreachable. */
    COORDINATION_AWAY,
    /** A node was killed while the coordinator was away, and nothing else was broken. */
    KILL_WITHOUT_COORDINATOR,
    /** A node got the report that its session has ended. */
    SESSION_LOST,
    /** It was over only long after it should have been. */
    SESSION_EXPIRED_LATE,
    /** A notification came twice. */
    NOTIFIED_TWICE,
    /** One came after a newer one. */
    NOTIFIED_OUT_OF_ORDER,
    /** Every node got the report that it leads and owns all slots. */
    ALL_TOLD_THEY_LEAD,
    /** Nodes had more slots than there are. */
    SLOT_WITH_TWO_OWNERS,
    /** Nodes had fewer slots than there are. */
    SLOT_WITHOUT_OWNER,
    /** A task was claimed by a node that does not own its slot. */
    CLAIMED_BY_NO_OWNER, STORE_AWAY, STORE_FAILOVER,
    /** A failover lost acknowledged writes. */
    LIMIT_REACHED, MACHINE_ASLEEP, SUFFIX_FORGOTTEN,
    /** Of these, writes of clients that had created or changed tasks. */
    CLIENT_WRITE_FORGOTTEN,
    /** Of that, claims. */
    CLAIM_FORGOTTEN,
    /** A call failed and said that nothing was done. */
    NOTHING_DONE,
    /** A call took effect after it had failed for its caller. */
    EFFECT_AFTER_FAILURE,
    /** A transaction made a task visible after it was due. */
    COMMIT_AFTER_DUE,
    /** Later than the look-back of the quick head polls. */
    COMMIT_FAR_BEHIND_CURSOR, CLAIM_WON, CLAIM_LATER, CLAIM_GONE, PARKED_READ_BACK, CLAIM_AFTER_LEASE_END,
    /** A move, which wins nothing, found a task ready. */
    MOVE_FOUND_READY,
    /** A node had no handler for a due task. */
    PARKED_FOR_WANT_OF_A_HANDLER, PARKED, SETTLE_REFUSED, SETTLE_REPEATED, DEAD_LETTER, RESET_OF_RUNNING, CANCEL_OF_RUNNING, SUBMIT_REPEATED, SUBMIT_KEPT, SUBMIT_REJECTED, REDRIVEN, QUEUE_PAUSED, QUEUE_DELETED,
    /** A queue was not deleted because it had live tasks. */
    DELETION_REFUSED, REFUSED_AT_THE_DOOR, DELIVERY_THREW, DELIVERY_NEVER_ANSWERED, REPORTED_LATER, REPORTED_TWICE
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

  /** The store carried out a call whose answer was lost. */
  void countLostReply(Call call) {
    counts.merge(lostReplyOf(call), 1L, Long::sum);
  }

  SortedMap<String, Long> counts() {
    return new TreeMap<>(counts);
  }
}
