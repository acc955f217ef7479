package io.foliot.schedule;

import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Finds time zones by name, and suggests names if there is no such zone. */
final class ZoneNames {
  /** Maximum number of names that are suggested. */
  private static final int SUGGESTIONS = 3;
  /**
   * Longest name that gets suggestions. The limit is needed because the cost of a comparison is proportional to the
   * product of the two lengths.
   */
  private static final int MAX_LENGTH = 64;
  private static final String EXPECTED = "the name of a time zone";
  private static final String NO_ABBREVIATION = "the name of a time zone or an offset, not an abbreviation, which"
      + " several zones may share and which does not say when their clocks change";
  /**
   * Refused abbreviations. Each has the largest zones that it may mean, and its offset if that offset never changes.
   */
  private static final Map<String, List<String>> ABBREVIATIONS = Map.ofEntries(
      Map.entry("CST", List.of("America/Chicago", "Asia/Shanghai", "America/Havana")),
      Map.entry("CDT", List.of("America/Chicago", "America/Havana")),
      Map.entry("IST", List.of("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem")),
      Map.entry("BST", List.of("Europe/London", "Asia/Dhaka")),
      Map.entry("EST", List.of("America/New_York", "America/Panama", "-05:00")),
      Map.entry("MST", List.of("America/Denver", "America/Phoenix", "-07:00")),
      Map.entry("HST", List.of("Pacific/Honolulu", "-10:00")),
      Map.entry("PST", List.of("America/Los_Angeles", "Asia/Manila")),
      Map.entry("PDT", List.of("America/Los_Angeles")),
      Map.entry("EDT", List.of("America/New_York")),
      Map.entry("MDT", List.of("America/Denver")),
      Map.entry("AST", List.of("America/Halifax", "Asia/Riyadh")),
      Map.entry("CEST", List.of("Europe/Berlin", "Europe/Paris", "Europe/Madrid")),
      Map.entry("EEST", List.of("Europe/Athens", "Europe/Kyiv", "Europe/Helsinki")),
      Map.entry("JST", List.of("Asia/Tokyo")),
      Map.entry("KST", List.of("Asia/Seoul")),
      Map.entry("AEST", List.of("Australia/Brisbane", "Australia/Sydney", "Australia/Melbourne")));

  private ZoneNames() {}

  /**
   * Returns the zone of a name or of an offset.
   *
   * @throws ScheduleException if there is no such zone. Its choices are the zones that an abbreviation may mean, or at
   *     most {@value #SUGGESTIONS} similar names, the most similar first
   */
  static ZoneId parse(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      String expected = ABBREVIATIONS.containsKey(name.toUpperCase(Locale.ROOT)) ? NO_ABBREVIATION : EXPECTED;
      ScheduleException refused = ScheduleException.ofChoice("zone", null, name, expected, nearest(name),
          "Europe/Berlin");
      refused.initCause(e);
      throw refused;
    }
  }

  private static List<String> nearest(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    List<String> shared = ABBREVIATIONS.get(upper);
    if (shared != null) {
      return shared;
    }
    if (name.isEmpty() || name.length() > MAX_LENGTH) {
      return List.of();
    }
    // The signs of the zones of Etc are reversed: Etc/GMT+1 is an hour behind UTC.
    return ZoneId.getAvailableZoneIds().stream().filter(each -> upper.startsWith("ETC") || !each.startsWith("Etc/"))
        .sorted(Comparator.<String>comparingInt(each -> distance(upper, each.toUpperCase(Locale.ROOT)))
            .thenComparing(Comparator.naturalOrder()))
        .limit(SUGGESTIONS).toList();
  }

  /** Returns the distance of a name to the full name of a zone or to the zone's city, whichever is smaller. */
  private static int distance(String name, String zone) {
    int city = zone.lastIndexOf('/') + 1;
    return city == 0 || name.indexOf('/') >= 0
        ? levenshtein(name, zone)
        : Math.min(levenshtein(name, zone), levenshtein(name, zone.substring(city)));
  }

  /** Returns the least number of insertions, deletions and replacements of characters that turn a text into another. */
  private static int levenshtein(String a, String b) {
    int[] above = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      above[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int changed = above[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(changed, Math.min(row[j - 1], above[j]) + 1);
      }
      above = row;
    }
    return above[b.length()];
  }
}
