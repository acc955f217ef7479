package io.foliot.store.jdbc;

import io.foliot.core.store.RecordTable;
import java.util.List;
import java.util.Map;

/**
 * What one statement read.
 *
 * @param micros the database's clock
 * @param floor what a new generation must at least be
 * @param rows records, some perhaps twice
 * @param answers to requests
 */
record Snapshot(long micros, long floor, List<Row> rows, Map<RequestName, RecordTable.Answered> answers) {
  List<Row> toSetAside() {
    return rows.stream().filter(Row::isToSetAside).toList();
  }
}
