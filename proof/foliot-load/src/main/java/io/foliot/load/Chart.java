package io.foliot.load;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;

/** A line chart in SVG with a logarithmic x axis of sizes. */
final class Chart {
  // The dimensions and margins of the picture, in pixels.
  private static final int WIDTH = 720;
  private static final int HEIGHT = 400;
  private static final int LEFT = 70;
  private static final int RIGHT = 20;
  private static final int TOP = 40;
  private static final int BOTTOM = 90;
  /** Number of horizontal grid lines above the x axis. */
  private static final int STEPS = 5;
  /** Colours that colour-blind people can distinguish (Okabe and Ito). The marks differ in size as well. */
  private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7");

  private final String title;
  private final String xLabel;
  private final String yLabel;
  private final List<Line> lines = new ArrayList<>();

  private record Line(String name, List<Double> sizes, List<Double> values) {}

  Chart(String title, String xLabel, String yLabel) {
    this.title = title;
    this.xLabel = xLabel;
    this.yLabel = yLabel;
  }

  /** Adds a line. Sizes below 1 are drawn at 1. */
  Chart line(String name, List<Double> sizes, List<Double> values) {
    lines.add(new Line(name, List.copyOf(sizes), List.copyOf(values)));
    return this;
  }

  String svg() {
    int fromExponent = (int) Math.floor(lines.stream().flatMap(line -> line.sizes.stream())
        .mapToDouble(Chart::logarithm).min().orElse(0));
    int toExponent = Math.max(fromExponent + 1, (int) Math.ceil(lines.stream().flatMap(line -> line.sizes.stream())
        .mapToDouble(Chart::logarithm).max().orElse(1)));
    double top = roundUp(lines.stream().flatMap(line -> line.values.stream()).mapToDouble(value -> value).max()
        .orElse(1));
    Formatter svg = new Formatter(Locale.ROOT);
    svg.format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
        + " font-size=\"13\">\n", WIDTH, HEIGHT);
    svg.format("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
    svg.format("<text x=\"%d\" y=\"24\" font-size=\"16\">%s</text>\n", LEFT, title);
    axes(svg, fromExponent, toExponent, top);
    for (int i = 0; i < lines.size(); i++) {
      draw(svg, lines.get(i), i, fromExponent, toExponent, top);
    }
    return svg.format("</svg>\n").toString();
  }

  private void axes(Formatter svg, int fromExponent, int toExponent, double top) {
    for (int i = 0; i <= STEPS; i++) {
      double y = y(top * i / STEPS, top);
      svg.format("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH - RIGHT, y);
      svg.format("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%,.0f</text>\n", LEFT - 6, y + 4, top * i / STEPS);
    }
    for (int exponent = fromExponent; exponent <= toExponent; exponent++) {
      double x = x(exponent, fromExponent, toExponent);
      svg.format(
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
          x, HEIGHT - BOTTOM + 18, exponent);
    }
    svg.format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
        HEIGHT - BOTTOM + 38, xLabel);
    svg.format("<text x=\"16\" y=\"%d\" transform=\"rotate(-90 16 %d)\" text-anchor=\"middle\">%s</text>\n",
        (TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2, yLabel);
  }

  private static void draw(Formatter svg, Line line, int index, int fromExponent, int toExponent, double top) {
    String colour = COLOURS.get(index % COLOURS.size());
    Formatter points = new Formatter(Locale.ROOT);
    for (int i = 0; i < line.sizes.size(); i++) {
      double x = x(logarithm(line.sizes.get(i)), fromExponent, toExponent);
      double y = y(line.values.get(i), top);
      points.format("%.1f,%.1f ", x, y);
      svg.format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"/>\n", x, y, 3 + index, colour);
    }
    svg.format("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points.toString().strip(),
        colour);
    int keyY = HEIGHT - BOTTOM + 56 + 16 * (index / 2);
    int keyX = LEFT + index % 2 * (WIDTH - LEFT - RIGHT) / 2;
    svg.format("<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", keyX, keyY - 4, 3 + index, colour);
    svg.format("<text x=\"%d\" y=\"%d\">%s</text>\n", keyX + 12, keyY, line.name);
  }

  private static double logarithm(double size) {
    return Math.log10(Math.max(1, size));
  }

  private static double x(double exponent, int fromExponent, int toExponent) {
    return LEFT + (exponent - fromExponent) / (toExponent - fromExponent) * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double value, double top) {
    return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP);
  }

  /** Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least {@code value}. */
  private static double roundUp(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(Math.max(value, 1e-9))));
    for (double step : new double[]{1, 2, 5}) {
      if (step * power >= value) {
        return step * power;
      }
    }
    return 10 * power;
  }
}
