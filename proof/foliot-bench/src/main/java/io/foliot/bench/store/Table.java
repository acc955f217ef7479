package io.foliot.bench.store;

import java.util.List;

/** The figures of a row. */
interface Table {
  /** Returns a heading and a table of medians. */
  String markdown();

  /** Returns a JSON object for each figure, with the values of all rounds. */
  List<String> json();
}
