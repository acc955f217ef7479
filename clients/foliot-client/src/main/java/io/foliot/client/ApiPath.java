package io.foliot.client;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The path and query of a route. A name becomes exactly one segment, whatever characters it has. */
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

  static ApiPath workers() {
    return new ApiPath().then("/v1/workers");
  }

  static ApiPath worker(String worker) {
    return workers().then("/").name("worker", worker);
  }

  static ApiPath cluster() {
    return new ApiPath().then("/v1/cluster");
  }

  /** Adds a part of the route as it is. */
  ApiPath then(String literal) {
    path.append(literal);
    return this;
  }

  private ApiPath name(String what, String name) {
    // Dots are unreserved and are usually not encoded, but "." and ".." as segments would change the path.
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

  private void encode(String text, String asItIs) {
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (asItIs.indexOf(b) >= 0) {
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
