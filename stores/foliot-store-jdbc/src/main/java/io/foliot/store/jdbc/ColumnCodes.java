package io.foliot.store.jdbc;

import io.foliot.api.TaskState;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.format.EnumCodes;

/** The codes of enum constants ({@link EnumCodes}) in columns, and special values of columns. */
final class ColumnCodes {
  static final int DELAYED = EnumCodes.DELAYED;
  static final int RUNNING = EnumCodes.RUNNING;
  static final int FINISHED = EnumCodes.FINISHED;
  static final int FAILED = EnumCodes.FAILED;
  static final int CANCELLED = EnumCodes.CANCELLED;

  /** Value that replaces the code of an attempt's end if the latest claim has not been settled. */
  static final int NO_END = -1;

  private ColumnCodes() {}

  static int of(TaskState state) {
    if (state == TaskState.READY) {
      throw new IllegalArgumentException("READY is never written");
    }
    return EnumCodes.of(state);
  }

  /** Returns the state, or FAILED for an unknown code. */
  static TaskState stateOrFailed(int code) {
    return code >= DELAYED && code <= CANCELLED ? EnumCodes.state(code) : TaskState.FAILED;
  }

  static int of(AttemptRecord.End end) {
    return EnumCodes.of(end);
  }

  /** Returns the code of a state in an answer. This state may be READY, unlike the state of a row. */
  static int ofAnswer(TaskState state) {
    return EnumCodes.of(state);
  }

  static TaskState answerState(int code) {
    return EnumCodes.state(code);
  }

  static int of(SubmitResult.Kind kind) {
    return EnumCodes.of(kind);
  }

  static SubmitResult.Kind answerKind(int code) {
    return EnumCodes.submitKind(code);
  }
}
