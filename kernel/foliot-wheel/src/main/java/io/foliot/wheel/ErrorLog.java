package io.foliot.wheel;

import java.util.function.Supplier;

/** The log of errors that this module's threads cannot report to a caller. Reporting never throws. */
final class ErrorLog {
  private static final System.Logger LOGGER = System.getLogger("io.foliot.wheel");

  private ErrorLog() {}

  /** Logs a failure. The message is made here, because making it may fail when memory is short. */
  static void log(Supplier<String> message, Throwable failure) {
    try {
      LOGGER.log(System.Logger.Level.ERROR, message.get(), failure);
    } catch (Throwable e) {
      // There is no place left to report to, and the caller's own cleanup must continue.
    }
  }

  /** Gives a failure to the current thread's uncaught exception handler, and logs it if that throws. */
  static void toUncaughtExceptionHandler(Throwable failure) {
    try {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    } catch (Throwable e) {
      log(() -> "the uncaught exception handler has failed: failure=" + e, failure);
    }
  }
}
