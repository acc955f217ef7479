package io.foliot.server;

import java.lang.Thread.UncaughtExceptionHandler;

/**
 * A handler that ends the process when a thread that the server needs has ended, or when memory has run out. Otherwise
 * the process would appear alive but do nothing. No task is lost, because the tasks are in the store. A supervisor such
 * as systemd can restart the process.
 */
public final class CoreThreads implements UncaughtExceptionHandler {
  /** Exit code of a process that this handler ends. */
  public static final int EXIT_CODE = 5;

  /** Prefix of the names of Foliot's threads. */
  private static final String OURS = "foliot-";
  /** Prefix of the names of the web server's threads. */
  private static final String LISTENER = "server-";

  private CoreThreads() {}

  /** Installs the handler for all threads of this process, which must run nothing but a server. */
  public static void watch() {
    Thread.setDefaultUncaughtExceptionHandler(new CoreThreads());
  }

  /**
   * Returns whether the failure or one of its causes is an error of the virtual machine that may make the process work
   * incorrectly. A stack overflow is not such an error.
   */
  public static boolean isFatal(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof VirtualMachineError && !(cause instanceof StackOverflowError)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCore(Thread thread) {
    return !thread.isVirtual() && (thread.getName().startsWith(OURS) || thread.getName().startsWith(LISTENER));
  }

  @Override
  public void uncaughtException(Thread thread, Throwable failure) {
    if (isFatal(failure) || isCore(thread)) {
      end("the thread " + thread.getName() + " has ended", failure);
    } else {
      System.err.println("foliot: the thread " + thread.getName() + " has ended");
      failure.printStackTrace(System.err);
    }
  }

  /**
   * Ends the process at once. An orderly stop would need the threads that have ended and the memory that has run out.
   */
  public static void end(String reason, Throwable cause) {
    try {
      System.err.println("foliot: " + reason + ", and the server cannot continue: " + cause
          + ". The process ends with exit code " + EXIT_CODE + "; start it again");
      cause.printStackTrace(System.err);
      System.err.flush();
    } finally {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
