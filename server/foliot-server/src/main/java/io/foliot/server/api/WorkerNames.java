package io.foliot.server.api;

/** The rules for the names of workers and of their zones. The names are shown to people and written to logs. */
final class WorkerNames {
  /** Longest name of a worker, in characters: room for the name of a host, a process, and a random suffix. */
  static final int MAX_WORKER = 128;
  /** Longest name of a zone, in characters, as in the configuration of a node. */
  static final int MAX_ZONE = 64;

  private WorkerNames() {}

  /** Returns the name of a worker, which may be empty, or throws the problem of its field. */
  static String worker(String field, String name) {
    if (name.length() > MAX_WORKER || name.chars().anyMatch(Character::isISOControl)) {
      throw JsonIn.invalid(field, "a name of at most " + MAX_WORKER + " characters without control characters",
          name.length() > MAX_WORKER ? name.length() + " characters" : "a control character");
    }
    return name;
  }

  /** Returns the name of a zone, which may be empty, or throws the problem of its field. */
  static String zone(String field, String name) {
    if (name.length() > MAX_ZONE || !name.chars().allMatch(WorkerNames::isAllowed)) {
      throw JsonIn.invalidText(field, "at most " + MAX_ZONE + " of A-Z a-z 0-9 . _ -", name);
    }
    return name;
  }

  private static boolean isAllowed(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_'
        || c == '-';
  }
}
