package io.foliot.core.coordination;

/**
 * The identity of a worker. A name belongs to its owner: workers of two owners are two workers, whatever their names
 * are. So a caller cannot act as the worker of another caller.
 *
 * @param owner the callers who may use the name, such as the id of an API key; empty for the application
 *     that contains the engine. Only the engine sees it, and it is not shown to people
 * @param name the name of the worker's process; empty for an anonymous worker, which gets no addressed task
 */
public record WorkerId(String owner, String name) {
  /** A worker without a name. */
  public static final WorkerId ANONYMOUS = new WorkerId("", "");

  /** Returns the identity of a worker of the application that contains the engine. */
  public static WorkerId of(String name) {
    return new WorkerId("", name);
  }

  /** Returns whether the worker has no name. */
  public boolean isAnonymous() {
    return name.isEmpty();
  }

  /** Returns a text that differs for any two workers. Hashes of it rank the workers of a fleet. */
  String text() {
    return owner.isEmpty() ? name : owner + '/' + name;
  }
}
