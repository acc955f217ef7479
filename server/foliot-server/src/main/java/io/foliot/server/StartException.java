package io.foliot.server;

import org.jspecify.annotations.Nullable;

/** A failure to start. The operator can remove its cause; the message says how. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The reason. */
  public enum Reason {
    /** A configured value cannot work. */
    CONFIGURATION,
    /** Another process listens on the port. */
    PORT_IN_USE,
    /** The address is not one of this machine, or this user may not use the port. */
    CANNOT_BIND,
    /** The store cannot be used: for example, another process uses it, it is damaged, or it is of a newer version. */
    STORE
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
}
