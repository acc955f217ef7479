package io.foliot.wheel;

import java.util.function.Supplier;

/** The log of errors that this module's threads cannot report to a caller. Its methods never throw. */
final class ErrorLog {
  private static final System.Logger LOGGER = System.getLogger("io.foliot.wheel");

  private ErrorLog() {}

  /** Logs a failure. The message is built inside this method, because building it may fail when memory is short. */
  static void log(Supplier<String> message, Throwable failure) {
    try {
      LOGGER.log(System.Logger.Level.ERROR, message.get(), failure);
    } catch (Throwable e) {
      // This failure cannot be reported anywhere, and the cleanup of the caller must continue.
    }
  }

  /** Passes a failure to the current thread's uncaught exception handler; logs the failure if the handler throws. */
  static void toUncaughtExceptionHandler(Throwable failure) {
    try {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    } catch (Throwable e) {
      log(() -> "the uncaught exception handler has failed, so the failure is logged: handlerFailure=" + e, failure);
    }
  }
}
