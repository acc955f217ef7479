package io.foliot.client;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Builds the path and query of a request. Each name is percent-encoded into exactly one segment. */
final class ApiPath {
  private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  private static final String HEX = "0123456789ABCDEF";

  private final StringBuilder path = new StringBuilder();
  private char separator = '?';

  private ApiPath() {}

  static ApiPath queues() {
    return new ApiPath().then("/v1/queues");
  }

  static ApiPath queue(String queue) {
    return queues().then("/").name("queue", queue);
  }

  static ApiPath key(String queue, String key) {
    return queue(queue).then("/keys/").name("key", key);
  }

  static ApiPath task(String id) {
    return new ApiPath().then("/v1/tasks/").name("id", id);
  }

  static ApiPath job(String job) {
    return new ApiPath().then("/v1/jobs/").name("job", job);
  }

  static ApiPath run(String job, String time) {
    return job(job).then("/runs/").name("time", time);
  }

  static ApiPath workers() {
    return new ApiPath().then("/v1/workers");
  }

  static ApiPath worker(String worker) {
    return workers().then("/").name("worker", worker);
  }

  static ApiPath cluster() {
    return new ApiPath().then("/v1/cluster");
  }

  /** Appends a literal part of the path, without encoding. */
  ApiPath then(String literal) {
    path.append(literal);
    return this;
  }

  private ApiPath name(String what, String name) {
    // Dots need no encoding, but a segment "." or ".." would change the path, so their dots are encoded.
    boolean dots = Names.requireName(what, name).equals(".") || name.equals("..");
    encode(name, dots ? "" : UNRESERVED);
    return this;
  }

  /** Adds a query parameter, unless the value is null. */
  ApiPath query(String name, @Nullable String value) {
    if (value != null) {
      path.append(separator).append(name).append('=');
      encode(Names.requireWellFormed(name, value), UNRESERVED);
      separator = '&';
    }
    return this;
  }

  private void encode(String text, String unencoded) {
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (unencoded.indexOf(b) >= 0) {
        path.append((char) b);
      } else {
        path.append('%').append(HEX.charAt((b >> 4) & 0xf)).append(HEX.charAt(b & 0xf));
      }
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
