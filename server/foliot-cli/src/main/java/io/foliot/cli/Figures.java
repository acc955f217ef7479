package io.foliot.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The response of {@code /metrics} at one moment: samples in the text format of Prometheus. */
final class Figures {
  /** Figures without samples. */
  static final Figures NONE = new Figures(List.of(), 0);

  /** One line: a name, its labels and the value. */
  record Sample(String name, Map<String, String> labels, double value) {
    String label(String label) {
      return labels.getOrDefault(label, "");
    }
  }

  private final List<Sample> samples;
  /** The {@link System#nanoTime} at which the response was read. */
  private final long nanos;

  private Figures(List<Sample> samples, long nanos) {
    this.samples = samples;
    this.nanos = nanos;
  }

  /**
   * Parses a response; skips lines that are not samples.
   *
   * @param nanos the {@link System#nanoTime} at which the response was read
   */
  static Figures parse(String text, long nanos) {
    List<Sample> samples = new ArrayList<>();
    text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
      int labelled = line.indexOf('{');
      int nameEnd = labelled >= 0 ? labelled : line.indexOf(' ');
      int end = labelled >= 0 ? line.lastIndexOf('}') : nameEnd;
      if (nameEnd > 0 && end >= nameEnd) {
        String[] rest = line.substring(labelled >= 0 ? end + 1 : end).strip().split(" ", 2);
        try {
          samples.add(new Sample(line.substring(0, nameEnd),
              labelled >= 0 ? labels(line.substring(labelled + 1, end)) : Map.of(), value(rest[0])));
        } catch (NumberFormatException e) {
          // Not a sample.
        }
      }
    });
    return new Figures(List.copyOf(samples), nanos);
  }

  private static double value(String text) {
    return switch (text) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  // name="value",name="value", where a value may contain commas, braces and escaped quotes
  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new HashMap<>();
    int at = 0;
    while (at < text.length()) {
      int equals = text.indexOf("=\"", at);
      if (equals < 0) {
        return labels;
      }
      StringBuilder value = new StringBuilder();
      int i = equals + 2;
      while (i < text.length() && text.charAt(i) != '"') {
        if (text.charAt(i) == '\\' && i + 1 < text.length()) {
          i++;
          value.append(text.charAt(i) == 'n' ? '\n' : text.charAt(i));
        } else {
          value.append(text.charAt(i));
        }
        i++;
      }
      labels.put(text.substring(at, equals).replace(",", "").strip(), value.toString());
      at = i + 1;
    }
    return labels;
  }

  boolean isEmpty() {
    return samples.isEmpty();
  }

  /** Returns all samples of a name. */
  List<Sample> all(String name) {
    return samples.stream().filter(sample -> sample.name().equals(name)).toList();
  }

  /** Returns the sum of those samples of a name that the predicate accepts. */
  double sum(String name, Predicate<Sample> which) {
    return samples.stream().filter(sample -> sample.name().equals(name) && which.test(sample))
        .mapToDouble(Sample::value).sum();
  }

  double sum(String name) {
    return sum(name, sample -> true);
  }

  /**
   * Returns the growth of a counter per second since earlier figures; never negative, and 0 if the earlier figures are
   * empty.
   */
  double perSecond(Figures earlier, String name, Predicate<Sample> which) {
    double seconds = (nanos - earlier.nanos) / 1e9;
    // A restarted server counts from zero.
    return earlier.isEmpty() || seconds <= 0
        ? 0
        : Math.max(0, sum(name, which) - earlier.sum(name, which)) / seconds;
  }

  /**
   * Returns a percentile of a histogram's values since earlier figures, interpolated linearly within its bucket; NaN if
   * there are no values. In the bucket without an upper bound, the result is the lower bound.
   *
   * @param name the histogram's name, without {@code _bucket}
   * @param share the percentile as a fraction, such as 0.99
   */
  double percentile(Figures earlier, String name, double share, Predicate<Sample> which) {
    // Maps the upper bound of each bucket to the number of values up to that bound.
    Map<Double, Double> counts = new TreeMap<>();
    add(counts, name, which, 1);
    earlier.add(counts, name, which, -1);
    double total = counts.isEmpty() ? 0 : counts.values().stream().reduce(0.0, Math::max);
    if (total <= 0) {
      return Double.NaN;
    }
    double wanted = total * share;
    double lower = 0;
    double below = 0;
    for (Map.Entry<Double, Double> bucket : counts.entrySet()) {
      if (bucket.getValue() >= wanted) {
        double upper = bucket.getKey();
        return Double.isInfinite(upper)
            ? lower
            : lower + (upper - lower) * (wanted - below) / Math.max(1e-9, bucket.getValue() - below);
      }
      lower = bucket.getKey();
      below = bucket.getValue();
    }
    return lower;
  }

  private void add(Map<Double, Double> counts, String name, Predicate<Sample> which, int sign) {
    for (Sample sample : samples) {
      if (sample.name().equals(name + "_bucket") && which.test(sample)) {
        counts.merge(value(sample.label("le")), sign * sample.value(), Double::sum);
      }
    }
  }
}
