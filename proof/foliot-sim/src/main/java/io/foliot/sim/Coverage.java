package io.foliot.sim;

import java.util.SortedMap;
import java.util.TreeMap;

/** Counts the events of a run. A promise that no event threatened was not tested. */
final class Coverage {
  /** The events that must occur in some of the runs. */
  enum Case {
    KILL, PAUSE_BEYOND_A_LEASE, SHORT_PAUSE, GRACEFUL_STOP, RESTART, CLOCK_SET_FORWARD, CLOCK_SET_BACK,
    /** A node cannot reach the store. */
    CUT_FROM_STORE,
    /** A node cannot reach the coordinator. */
    CUT_FROM_COORDINATION,
    /** The coordinator itself is unreachable. */
    COORDINATION_AWAY,
    /** A node was killed while the coordinator was unreachable, and nothing else was broken. */
    KILL_WITHOUT_COORDINATOR,
    /** A node was notified that its session has ended. */
    SESSION_LOST,
    /** A session ended only long after its timeout. */
    SESSION_EXPIRED_LATE,
    /** A notification arrived twice. */
    NOTIFIED_TWICE,
    /** A notification arrived after a newer one. */
    NOTIFIED_OUT_OF_ORDER,
    /** Every node was notified that it leads and owns all slots. */
    ALL_TOLD_THEY_LEAD,
    /** The nodes together owned more slots than exist. */
    SLOT_WITH_TWO_OWNERS,
    /** The nodes together owned fewer slots than exist. */
    SLOT_WITHOUT_OWNER,
    /** A task was claimed by a node that does not own its slot. */
    CLAIMED_BY_NO_OWNER, STORE_AWAY, STORE_FAILOVER, LIMIT_REACHED, MACHINE_ASLEEP,
    /** A failover lost acknowledged writes. */
    SUFFIX_FORGOTTEN,
    /** A failover lost a write by which a client had created or changed tasks. */
    CLIENT_WRITE_FORGOTTEN,
    /** A failover lost claims. */
    CLAIM_FORGOTTEN,
    /** A call failed without an effect. */
    NOTHING_DONE,
    /** A call took effect after it had failed for its caller. */
    EFFECT_AFTER_FAILURE,
    /** A transaction made a task visible after it was due. */
    COMMIT_AFTER_DUE,
    /** A transaction made a task visible more than two seconds after it was due: quick head polls do not find it. */
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

  /** Counts a call that the store has done, but whose answer was lost. */
  void countLostReply(Call call) {
    counts.merge(lostReplyOf(call), 1L, Long::sum);
  }

  SortedMap<String, Long> counts() {
    return new TreeMap<>(counts);
  }
}
