package io.foliot.server.text;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A search for the known name that a mistyped name probably means. */
public final class Nearest {
  // In characters. The time to compute a distance grows with the product of the lengths.
  private static final int MAX_LENGTH = 64;

  /** Length from which a name is taken for the beginning of a known name. */
  private static final int SHORTEST_BEGINNING = 3;

  private Nearest() {}

  /**
   * Returns the known name that differs from the name in the fewest characters. Case, hyphens and underscores are
   * ignored. Returns null if the name has more than 64 characters, or if no known name is similar enough. A known name
   * is similar enough if it differs in one character, or in at most about a third of its characters. If none is, and
   * only one known name begins with the name, that known name is returned.
   */
  public static @Nullable String of(String name, Collection<String> known) {
    if (name.length() > MAX_LENGTH) {
      return null;
    }
    String best = null;
    int bestDistance = Integer.MAX_VALUE;
    for (String candidate : known) {
      int distance = distance(plain(name), plain(candidate));
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return best != null && bestDistance <= Math.max(1, (best.length() + 1) / 3) ? best : completed(name, known);
  }

  private static @Nullable String completed(String name, Collection<String> known) {
    if (plain(name).length() < SHORTEST_BEGINNING) {
      return null;
    }
    List<String> longer = known.stream().filter(candidate -> plain(candidate).startsWith(plain(name))).toList();
    return longer.size() == 1 ? longer.getFirst() : null;
  }

  /** Returns the end of a message, with the name that was probably meant, or else with all known names. */
  public static String hint(String name, Collection<String> known) {
    String nearest = of(name, known);
    return nearest != null ? "did you mean " + nearest + "?" : "known are " + String.join(", ", known);
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
  }

  // Returns the Levenshtein distance, but counts two swapped neighbours as one change.
  private static int distance(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        cost[i][j] = i == 0 || j == 0 ? i + j : step(a, b, cost, i, j);
      }
    }
    return cost[a.length()][b.length()];
  }

  private static int step(String a, String b, int[][] cost, int i, int j) {
    int changed = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int best = Math.min(changed, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
    boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
  }
}
