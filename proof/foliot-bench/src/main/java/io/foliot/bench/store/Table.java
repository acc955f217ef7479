package io.foliot.bench.store;

import java.util.List;

/** The figures that a {@link Row} has measured, as Markdown and as JSON. */
interface Table {
  /** Returns a heading, a table of the medians and their ranges, and the goals, if there are any. */
  String markdown();

  /** Returns a JSON object for each figure, with the values of all rounds. */
  List<String> json();
}
