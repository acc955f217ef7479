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

/** The scripts that run in Redis. Their texts are in files beside this class. */
enum Script {
  /** Inserts tasks, or resets waiting tasks. */
  SUBMIT,
  /** Resets waiting tasks by key. */
  TOUCH,
  /** Claims tasks. */
  CLAIM,
  /** Records attempts that succeeded or are retried. */
  SETTLE,
  /** Parks tasks that are due. */
  PARK,
  /** Reads records for the general path. */
  READ,
  /** Reads records for submits and adoptions, which are refused when the server has no memory left. */
  READ_TO_SUBMIT,
  /** Writes the results of the general path. */
  WRITE,
  /** Sets aside tasks whose records cannot be read. */
  ASIDE,
  /** Reads a page of an ordered set, such as the index of a slot. */
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
  /** Reads tasks that have to migrate to another part. */
  DEPART,
  /** Inserts migrating tasks into their new part. */
  ARRIVE,
  /** Deletes migrated tasks from their old part. */
  LEAVE,
  /** Finds the records and answers of a part that have to migrate. */
  CRAWL,
  /** Records that no task of a part has to migrate any more. */
  DRAINED,
  /** Writes the number of parts. */
  GROW,
  /** Writes or deletes a document. */
  DOCUMENT;

  /** The text of a script, and the hash by which EVALSHA names the script. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Source(byte[] text, String sha) {}

  /** Expression by which a script reads the clock; tests replace it. */
  static final String SERVER_TIME = "redis.call('TIME')";

  /** First line of scripts that Redis runs even if its memory is full, because tasks must still be able to end. */
  private static final String RUNS_WHEN_FULL = "#!lua flags=allow-oom\n";
  /** First line of scripts that Redis refuses if its memory is full. */
  private static final String REFUSED_WHEN_FULL = "#!lua\n";
  /** First major version of Redis that supports these lines. */
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
   * @param time a Lua expression for the seconds since 1970 and the microseconds within the second
   * @param version the major version of the server
   */
  static Map<Script, Source> load(String time, int version) {
    String prelude = read("prelude").replace(SERVER_TIME, time);
    Map<Script, Source> sources = new EnumMap<>(Script.class);
    for (Script script : values()) {
      String text = read(script == READ_TO_SUBMIT ? "read" : script.name().toLowerCase(Locale.ROOT));
      String flags = version < FIRST_WITH_FLAGS ? "" : script.makesTasks() ? REFUSED_WHEN_FULL : RUNS_WHEN_FULL;
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
