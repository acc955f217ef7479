package io.foliot.core.store;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes the secrets from the address of a store's server, so that the address can be shown. */
public final class StoreAddress {
  private static final Pattern SCHEME = Pattern.compile("(jdbc:)?[A-Za-z0-9+.-]*:?");

  private StoreAddress() {}

  /**
   * Returns the address without the parts that may be secret: user, password, and all parameters. If the address is
   * ambiguous, more is left out.
   *
   * @param address such as {@code jdbc:postgresql://user:password@host/name?sslpassword=...}
   */
  public static String shown(String address) {
    // A password may contain any character, so nothing before the last @ is shown except the scheme.
    int user = address.lastIndexOf('@');
    String open = user < 0 ? address : scheme(address) + "//" + address.substring(user + 1);
    return open.split("[?;&]", 2)[0];
  }

  /**
   * Returns the prefix of an address, such as {@code jdbc:postgresql:} or {@code redis:}. If the address has no scheme,
   * the prefix is all letters, digits, {@code +}, {@code .} and {@code -} before the first other character; it may be
   * empty.
   */
  public static String scheme(String address) {
    Matcher found = SCHEME.matcher(address);
    return found.lookingAt() ? found.group() : "";
  }
}
