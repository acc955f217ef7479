package io.foliot.core.store.format;

import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;

/**
 * The code of each constant that is stored. The codes are part of the format, and of the statements and scripts of the
 * stores: a code never changes, and is never reused. A constant may be renamed or moved.
 */
public final class EnumCodes {
  /** Code of {@link TaskState#READY}, which is never the state of a record, and occurs only in stored answers. */
  public static final int READY = 0;
  /** Code of {@link TaskState#DELAYED}. */
  public static final int DELAYED = 1;
  /** Code of {@link TaskState#RUNNING}. */
  public static final int RUNNING = 2;
  /** Code of {@link TaskState#FINISHED}. */
  public static final int FINISHED = 3;
  /** Code of {@link TaskState#FAILED}. */
  public static final int FAILED = 4;
  /** Code of {@link TaskState#CANCELLED}. */
  public static final int CANCELLED = 5;

  private EnumCodes() {}

  /** Returns the code of a state. */
  public static int of(TaskState state) {
    return switch (state) {
      case READY -> READY;
      case DELAYED -> DELAYED;
      case RUNNING -> RUNNING;
      case FINISHED -> FINISHED;
      case FAILED -> FAILED;
      case CANCELLED -> CANCELLED;
    };
  }

  /**
   * Returns the state that has a code.
   *
   * @throws MalformedException if no state has the code
   */
  public static TaskState state(int code) {
    return switch (code) {
      case READY -> TaskState.READY;
      case DELAYED -> TaskState.DELAYED;
      case RUNNING -> TaskState.RUNNING;
      case FINISHED -> TaskState.FINISHED;
      case FAILED -> TaskState.FAILED;
      case CANCELLED -> TaskState.CANCELLED;
      default -> throw unknown("state of a task", code);
    };
  }

  /** Returns the code of the end of an attempt. */
  public static int of(AttemptRecord.End end) {
    return switch (end) {
      case FINISHED -> 0;
      case RETRIED -> 1;
      case FAILED -> 2;
      case REARMED -> 3;
      case LEASE_ENDED -> 4;
      case NOT_BEGUN -> 5;
    };
  }

  /**
   * Returns the end of an attempt for a code.
   *
   * @throws MalformedException if no end has the code
   */
  public static AttemptRecord.End end(int code) {
    return switch (code) {
      case 0 -> AttemptRecord.End.FINISHED;
      case 1 -> AttemptRecord.End.RETRIED;
      case 2 -> AttemptRecord.End.FAILED;
      case 3 -> AttemptRecord.End.REARMED;
      case 4 -> AttemptRecord.End.LEASE_ENDED;
      case 5 -> AttemptRecord.End.NOT_BEGUN;
      default -> throw unknown("end of an attempt", code);
    };
  }

  /** Returns the code of the result of a submit. */
  public static int of(SubmitResult.Kind kind) {
    return switch (kind) {
      case CREATED -> 0;
      case RESET -> 1;
      case RESET_PENDING -> 2;
      case KEPT -> 3;
      case REJECTED -> 4;
      case REPEATED -> 5;
      case MISMATCHED -> 6;
      case CHANGED -> 7;
    };
  }

  /**
   * Returns the result of a submit for a code.
   *
   * @throws MalformedException if no result has the code
   */
  public static SubmitResult.Kind submitKind(int code) {
    return switch (code) {
      case 0 -> SubmitResult.Kind.CREATED;
      case 1 -> SubmitResult.Kind.RESET;
      case 2 -> SubmitResult.Kind.RESET_PENDING;
      case 3 -> SubmitResult.Kind.KEPT;
      case 4 -> SubmitResult.Kind.REJECTED;
      case 5 -> SubmitResult.Kind.REPEATED;
      case 6 -> SubmitResult.Kind.MISMATCHED;
      case 7 -> SubmitResult.Kind.CHANGED;
      default -> throw unknown("result of a submit", code);
    };
  }

  /** Returns the code of a kind of document. */
  public static int of(DocumentKind kind) {
    return switch (kind) {
      case QUEUE -> 1;
      case CALENDAR -> 2;
      case NODE -> 3;
      case PERMITS -> 4;
      case CLUSTER -> 5;
      case API_KEY -> 6;
      case FLEET -> 7;
    };
  }

  /** Returns the code of a mark. */
  public static int of(TaskNote.Mark mark) {
    return switch (mark) {
      case NONE -> 0;
      case END_JOB -> 1;
      case RUN_AGAIN -> 2;
    };
  }

  /**
   * Returns the mark that has a code.
   *
   * @throws MalformedException if no mark has the code
   */
  public static TaskNote.Mark mark(int code) {
    return switch (code) {
      case 0 -> TaskNote.Mark.NONE;
      case 1 -> TaskNote.Mark.END_JOB;
      case 2 -> TaskNote.Mark.RUN_AGAIN;
      default -> throw unknown("mark", code);
    };
  }

  /** Returns the code of the state of a seal. */
  public static int of(StoreSeal.State state) {
    return switch (state) {
      case DRAINING -> 1;
      case MOVED -> 2;
      case FILLING -> 3;
    };
  }

  /**
   * Returns the state of a seal for a code.
   *
   * @throws MalformedException if no state has the code
   */
  public static StoreSeal.State sealState(int code) {
    return switch (code) {
      case 1 -> StoreSeal.State.DRAINING;
      case 2 -> StoreSeal.State.MOVED;
      case 3 -> StoreSeal.State.FILLING;
      default -> throw unknown("state of a seal", code);
    };
  }

  /** Returns the name of a kind of document, for stores whose keys are readable text. */
  public static String nameOf(DocumentKind kind) {
    return switch (kind) {
      case QUEUE -> "queue";
      case CALENDAR -> "calendar";
      case NODE -> "node";
      case PERMITS -> "permits";
      case CLUSTER -> "cluster";
      case API_KEY -> "api_key";
      case FLEET -> "fleet";
    };
  }

  private static MalformedException unknown(String what, int code) {
    return new MalformedException("no " + what + " has this code: code=" + code, null);
  }
}
