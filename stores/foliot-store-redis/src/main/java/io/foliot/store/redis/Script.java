package io.foliot.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;

/** The steps that run in Redis, each a file beside this class. */
enum Script {
  /** Inserts tasks, or resets waiting ones. */
  SUBMIT,
  /** Resets waiting tasks by key. */
  TOUCH,
  /** Claims tasks. */
  CLAIM,
  /** Records attempts that succeeded or are to be repeated. */
  SETTLE,
  /** Parks tasks that are due. */
  PARK,
  /** Reads records for the general path. */
  READ,
  /** The same for submits, which are refused where there is no memory left. */
  READ_TO_SUBMIT,
  /** Writes the results of the general path. */
  WRITE,
  /** Sets aside tasks whose records cannot be read. */
  ASIDE,
  /** Reads an ordered set. */
  DUE,
  /** Pages through records. */
  SCAN,
  /** Reads when tasks can be claimed next. */
  PROBE,
  /** Reads when leases end. */
  LEASES,
  /** Reads the clock. */
  TIME,
  /** Deletes expired records. */
  SWEEP,
  /** Reads the tasks that have to cross to another part. */
  DEPART,
  /** Takes it in there. */
  ARRIVE,
  /** Forgets it here. */
  LEAVE,
  /** Finds the tasks that have to cross. */
  CRAWL,
  /** Notes that nothing is. */
  DRAINED,
  /** Writes how many parts there are. */
  GROW,
  /** Writes a record of configuration. */
  DOCUMENT;

  /** A script as the server knows it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Source(byte[] text, String sha) {}

  /** The expression by which a script reads the clock; tests replace it. */
  static final String SERVER_TIME = "redis.call('TIME')";

  /** From Redis 7 on a script declares that it runs even when memory is full: scripts that end tasks must not stop. */
  private static final String GOES_ON = "#!lua flags=allow-oom\n";
  private static final String STOPS = "#!lua\n";
  private static final int FIRST_WITH_FLAGS = 7;

  private boolean hasPrelude() {
    return this != DOCUMENT && this != GROW;
  }

  private boolean makesTasks() {
    return this == SUBMIT || this == READ_TO_SUBMIT;
  }

  /**
   * Returns the texts of all scripts.
   *
   * @param time an expression of Lua for seconds and microseconds since 1970
   * @param version the major version of the server
   */
  static Map<Script, Source> load(String time, int version) {
    String prelude = read("prelude").replace(SERVER_TIME, time);
    Map<Script, Source> sources = new EnumMap<>(Script.class);
    for (Script script : values()) {
      String text = read(script == READ_TO_SUBMIT ? "read" : script.name().toLowerCase(Locale.ROOT));
      String flags = version < FIRST_WITH_FLAGS ? "" : script.makesTasks() ? STOPS : GOES_ON;
      byte[] bytes = (flags + (script.hasPrelude() ? prelude + text : text)).getBytes(StandardCharsets.UTF_8);
      sources.put(script, new Source(bytes, sha(bytes)));
    }
    return sources;
  }

  private static String read(String name) {
    try (InputStream in = Script.class.getResourceAsStream(name + ".lua")) {
      if (in == null) {
        throw new IllegalStateException("a script is missing from this jar: name=" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha(byte[] text) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-1", e);
    }
  }
}
