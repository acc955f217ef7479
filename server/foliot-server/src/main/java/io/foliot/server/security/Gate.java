package io.foliot.server.security;

import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The check that identifies the caller of a request, except on open routes such as health. If the server has or had
 * keys, every caller must present one. Otherwise the server is bound to loopback and open to programs on this machine,
 * but not to web pages. Any page could make a browser on this machine send requests to the server, to a loopback
 * address or to a name that resolves to one. Therefore the header Host, and the header Origin if there is one, must
 * name this machine.
 */
public final class Gate {
  private static final Set<String> LOCAL_NAMES = Set.of("localhost", "[::1]", "::1");

  private final KeyRing keys;
  private final boolean loopback;
  private final boolean mayOpen;
  private final String boundHost;

  /**
   * Creates a gate.
   *
   * @param loopback whether the server is bound to loopback
   * @param mayOpen whether the removal of the last key opens a server that is bound to loopback
   * @param boundHost the host name or address that the server is bound to
   */
  public Gate(KeyRing keys, boolean loopback, boolean mayOpen, String boundHost) {
    this.keys = keys;
    this.loopback = loopback;
    this.mayOpen = loopback && mayOpen;
    this.boundHost = boundHost.toLowerCase(Locale.ROOT);
  }

  /** The verdict of the gate. */
  public sealed interface Verdict {
    /** The caller is known, or the server is open. */
    record Known(Caller caller) implements Verdict {}

    /** The request has no key, or an invalid key. */
    record Unknown(String reason) implements Verdict {}

    /** The request comes from a web page of another site, or names another host. */
    record Foreign(String reason) implements Verdict {}
  }

  /** Returns whether the server is open at the moment: bound to loopback, and never had keys. */
  public boolean isOpen() {
    return loopback && !keys.isRequired();
  }

  /** Returns whether the removal of the last key opens the server. */
  public boolean mayOpen() {
    return mayOpen;
  }

  /** Identifies the caller of a request by its headers, which are null if they are absent. */
  public Verdict judge(@Nullable String authorization, @Nullable String host, @Nullable String origin, Instant now) {
    if (isOpen()) {
      if (host == null || !isLocal(host)) {
        return new Verdict.Foreign("the header Host must name this machine, as in localhost: host=" + host);
      }
      if (origin != null && !isLocalOrigin(origin)) {
        return new Verdict.Foreign("pages of other sites may not use this server: origin=" + origin);
      }
      return new Verdict.Known(Caller.OPEN);
    }
    if (authorization == null) {
      return new Verdict.Unknown("send the header Authorization: Bearer flt_...");
    }
    if (!authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
      return new Verdict.Unknown("the header Authorization must be of the form Bearer flt_...");
    }
    String text = authorization.substring(7).strip();
    if (text.isEmpty()) {
      return new Verdict.Unknown("the header Authorization has no key: send Bearer flt_...");
    }
    Caller caller = keys.find(text, now);
    return caller == null
        ? new Verdict.Unknown("the key is unknown, has expired, or was removed; ask the server's administrator")
        : new Verdict.Known(caller);
  }

  /** Returns whether a caller that was known before would still be known. */
  public boolean admits(Caller caller, Instant now) {
    return caller == Caller.OPEN ? isOpen() : caller == Caller.ANYBODY || keys.holds(caller, now);
  }

  private boolean isLocalOrigin(String origin) {
    int scheme = origin.indexOf("://");
    return scheme > 0 && isLocal(origin.substring(scheme + 3));
  }

  private boolean isLocal(String authority) {
    String name = withoutPort(authority).toLowerCase(Locale.ROOT);
    return LOCAL_NAMES.contains(name) || name.equals(boundHost) || isLoopbackAddress(name);
  }

  private static String withoutPort(String authority) {
    int colon = authority.lastIndexOf(':');
    boolean port = colon > 0 && authority.indexOf(']') < colon && authority.substring(colon + 1).chars()
        .allMatch(c -> c >= '0' && c <= '9');
    return port ? authority.substring(0, colon) : authority;
  }

  private static boolean isLoopbackAddress(String name) {
    String[] parts = name.split("\\.", -1);
    if (parts.length != 4 || !parts[0].equals("127")) {
      return false;
    }
    for (String part : parts) {
      if (part.isEmpty() || part.length() > 3 || !part.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return false;
      }
    }
    return true;
  }
}
