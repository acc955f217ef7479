package io.foliot.bench.store;

import java.util.List;

/** Figures, and how they are shown. */
interface Table {
  /** A heading and a table of medians. */
  String markdown();

  /** Each figure as an object with all of its values. */
  List<String> json();
}
