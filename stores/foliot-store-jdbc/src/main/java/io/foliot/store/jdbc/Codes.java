package io.foliot.store.jdbc;

import io.foliot.core.TaskState;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.SubmitResult;

/** Enum constants as the numbers that stand in columns and in SQL. They are part of the format and never change. */
final class Codes {
  static final int DELAYED = 1;
  static final int RUNNING = 2;
  static final int FINISHED = 3;
  static final int FAILED = 4;
  static final int CANCELLED = 5;

  static final int END_FINISHED = 0;

  /** In place of how a claim was settled while it was not. */
  static final int NO_END = -1;

  private Codes() {}

  static int of(TaskState state) {
    return switch (state) {
      case DELAYED -> DELAYED;
      case RUNNING -> RUNNING;
      case FINISHED -> FINISHED;
      case FAILED -> FAILED;
      case CANCELLED -> CANCELLED;
      case READY -> throw new IllegalArgumentException("READY is never written");
    };
  }

  static TaskState state(int code) {
    return switch (code) {
      case DELAYED -> TaskState.DELAYED;
      case RUNNING -> TaskState.RUNNING;
      case FINISHED -> TaskState.FINISHED;
      case FAILED -> TaskState.FAILED;
      case CANCELLED -> TaskState.CANCELLED;
      default -> throw new DamagedException("no such state: code=" + code, null);
    };
  }

  /** The state, or FAILED for a number that is none. */
  static TaskState stateOrFailed(int code) {
    return code >= DELAYED && code <= CANCELLED ? state(code) : TaskState.FAILED;
  }

  static int of(AttemptRecord.End end) {
    return switch (end) {
      case FINISHED -> END_FINISHED;
      case RETRIED -> 1;
      case FAILED -> 2;
      case REARMED -> 3;
      case LEASE_ENDED -> 4;
    };
  }

  static AttemptRecord.End end(int code) {
    return switch (code) {
      case END_FINISHED -> AttemptRecord.End.FINISHED;
      case 1 -> AttemptRecord.End.RETRIED;
      case 2 -> AttemptRecord.End.FAILED;
      case 3 -> AttemptRecord.End.REARMED;
      case 4 -> AttemptRecord.End.LEASE_ENDED;
      default -> throw new DamagedException("no such end of an attempt: code=" + code, null);
    };
  }

  /** The state in the answer to a request; the first answer to one may be that its task is ready. */
  static int ofAnswer(TaskState state) {
    return state == TaskState.READY ? 0 : of(state);
  }

  static TaskState answerState(int code) {
    return code == 0 ? TaskState.READY : state(code);
  }

  static int of(SubmitResult.Kind kind) {
    return switch (kind) {
      case CREATED -> 0;
      case RESET -> 1;
      case RESET_PENDING -> 2;
      case KEPT -> 3;
      case REJECTED, REPEATED, MISMATCHED -> throw new IllegalArgumentException("never remembered: kind=" + kind);
    };
  }

  static SubmitResult.Kind answerKind(int code) {
    return switch (code) {
      case 0 -> SubmitResult.Kind.CREATED;
      case 1 -> SubmitResult.Kind.RESET;
      case 2 -> SubmitResult.Kind.RESET_PENDING;
      case 3 -> SubmitResult.Kind.KEPT;
      default -> throw new DamagedException("no such answer: code=" + code, null);
    };
  }
}
