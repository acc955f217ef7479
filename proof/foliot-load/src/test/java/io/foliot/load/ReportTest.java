package io.foliot.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

final class ReportTest {
  @Test
  void percentilesAreThoseOfTheSortedValues() {
    Samples samples = new Samples();
    for (int i = 2_000; i >= 1; i--) {
      samples.add(i);
    }
    assertThat(samples.median()).isEqualTo(1_000);
    assertThat(samples.percentile(99)).isEqualTo(1_980);
    assertThat(samples.max()).isEqualTo(2_000);
    assertThat(samples.min()).isEqualTo(1);
    assertThat(new Samples().percentile(99)).isZero();
  }

  @Test
  void percentilesHaveFourDigitsAndExtremesAreExact() {
    Samples samples = new Samples();
    for (long nanos : new long[]{-3, 123_456_789, 987_654_321}) {
      samples.add(nanos);
    }
    assertThat(samples.min()).isEqualTo(-3);
    assertThat(samples.max()).isEqualTo(987_654_321);
    assertThat(samples.percentile(99)).isEqualTo(987_654_321);
    assertThat(samples.median()).isCloseTo(123_456_789, withinPercentage(0.01));
    assertThat(samples.percentile(1)).isZero();
    Samples merged = new Samples();
    merged.addAll(samples);
    assertThat(merged.size()).isEqualTo(3);
    assertThat(merged.min()).isEqualTo(-3);
  }

  @Test
  void aReportIsProvenIfItHasChecksAndAllHold() {
    assertThat(new Report().figure("speed", 1, "/s").isProven()).isFalse();
    assertThat(new Report().checkEqual("work", 2, 2).isProven()).isTrue();
    assertThat(new Report().checkEqual("work", 2, 2).checkNone("losses", 1).isProven()).isFalse();
  }

  @Test
  void aGoalIsAnUpperOrALowerLimit() {
    Report report = new Report().atLeast(10, "rate", 9, "/s").atMost(10, "time", 9, "ms");
    assertThat(report.figures()).extracting(Report.Figure::isMet).containsExactly(false, true);
    assertThat(ReportText.lines(new FsyncScenario(), report.check("work", true), null, 1.5, true))
        .anyMatch(line -> line.contains("rate") && line.contains("MISSED"))
        .anyMatch(line -> line.contains("time") && line.contains("ok"));
  }

  @Test
  void goalsAreShownOnlyOnRequest() {
    Report report = new Report().atLeast(10, "rate", 9, "/s").check("work", true);
    assertThat(String.join("\n", ReportText.lines(new LatenessScenario(), report, null, 1.5, false))).contains("rate")
        .doesNotContain("MISSED", "wanted");
    assertThat(ReportText.lines(new LatenessScenario(), report, null, 1.5, true).getFirst()).contains("wanted");
  }

  @Test
  void failedChecksAndFailuresAreShown() {
    Report report = new Report().checkEqual("delivered", 2, 1);
    assertThat(ReportText.lines(new FsyncScenario(), report, "the server ended", 0, false))
        .contains("  FAILED: delivered: 1 of 2", "  FAILED: the server ended");
    ReportJson json = new ReportJson(List.of("a machine"));
    json.add(new FsyncScenario(), report, null, 0);
    assertThat(json.finish()).contains("\"proven\":false", "\"holds\":false");
  }

  @Test
  void aChartIsXmlWithAPointForEachValue() throws Exception {
    String svg = new Chart("Cost", "tasks", "us").line("submit", List.of(0.0, 1e4, 1e7), List.of(400.0, 410.0, 1_234.5))
        .line("fire", List.of(0.0, 1e4, 1e7), List.of(30.0, 31.0, 32.0)).svg();
    var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
        new InputSource(new StringReader(svg)));
    assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(2);
    assertThat(document.getElementsByTagName("circle").getLength()).isEqualTo(2 * 3 + 2);
  }

  @Test
  void aCurveIsWrittenWithAColumnForEachFigure() {
    Curve curve = new Curve(List.of("pending", "us"));
    curve.row(List.of(10.0, 1.5));
    assertThat(curve.csv()).isEqualTo("pending,us\n10.000,1.500\n");
    assertThat(ReportJson.curve(curve)).isEqualTo("{\"columns\":[\"pending\",\"us\"],\"rows\":[[10.0,1.5]]}\n");
  }
}
