package io.foliot.server;

import org.jspecify.annotations.Nullable;

/** A failure to start for a reason that the operator can remove; the message says how. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The reason, with an exit code for programs that start a server themselves. */
  public enum Reason {
    /** A configured value cannot work. */
    CONFIGURATION(2),
    /** Another process listens on the port. */
    PORT_IN_USE(3),
    /** The address is not one of this machine, or this user may not use the port. */
    CANNOT_BIND(3),
    /** The store cannot be used: for example, another process uses it, it is damaged, or it is of a newer version. */
    STORE(4);

    private final int exitCode;

    Reason(int exitCode) {
      this.exitCode = exitCode;
    }
  }

  private final Reason reason;

  /** Creates an exception whose message is one line for people: the cause and the remedy. */
  public StartException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Returns the reason. */
  public Reason reason() {
    return reason;
  }

  /** Returns the exit code of the reason. The command {@code foliot server} does not use it. */
  public int exitCode() {
    return reason.exitCode;
  }
}
