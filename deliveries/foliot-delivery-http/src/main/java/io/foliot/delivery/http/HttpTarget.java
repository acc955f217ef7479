package io.foliot.delivery.http;

import io.foliot.api.Target;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parsed settings of a target.
 *
 * @param url the URL of the callbacks
 * @param signer the signer, or null for no signature
 */
record HttpTarget(CallbackUrl url, @Nullable WebhookSigner signer) {
  static final String TYPE = "http";
  private static final String URL = "url";
  private static final String SECRET = "secret";
  static final List<String> KNOWN = List.of(URL, SECRET);

  /**
   * Parses the settings of a target.
   *
   * @throws IllegalArgumentException if the target is of another type, or a setting is missing, unknown or malformed
   */
  static HttpTarget parse(Target target) {
    if (!target.type().equals(TYPE)) {
      throw new IllegalArgumentException("the target of a callback must be of type http: type=" + target.type());
    }
    Map<String, String> settings = target.settings();
    for (String name : settings.keySet()) {
      if (!KNOWN.contains(name)) {
        throw new IllegalArgumentException(
            "an http delivery has the settings url and secret; did you mean " + nearest(name) + "? setting="
                + HeaderText.shown(name));
      }
    }
    String url = settings.get(URL);
    if (url == null) {
      throw new IllegalArgumentException("an http delivery needs a url, to which it posts its callbacks");
    }
    return new HttpTarget(CallbackUrl.parse(url), WebhookSigner.parse(settings.get(SECRET)));
  }

  private static String nearest(String name) {
    String cut = name.length() > 64 ? name.substring(0, 64) : name;
    return distance(cut, SECRET) < distance(cut, URL) ? SECRET : URL;
  }

  /** Returns the edit distance of a name and a word in lower case, divided by the length of the longer of the two. */
  private static double distance(String name, String word) {
    int[] row = new int[word.length() + 1];
    for (int j = 0; j <= word.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= name.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= word.length(); j++) {
        boolean same = Character.toLowerCase(name.charAt(i - 1)) == word.charAt(j - 1);
        int best = Math.min(diagonal + (same ? 0 : 1), Math.min(row[j], row[j - 1]) + 1);
        diagonal = row[j];
        row[j] = best;
      }
    }
    return (double) row[word.length()] / Math.max(name.length(), word.length());
  }
}
