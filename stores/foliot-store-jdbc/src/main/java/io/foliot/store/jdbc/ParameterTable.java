package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A table of parameters within a statement, for databases without arrays. Its name in the statement is {@code wanted}.
 * Its first column, {@code place}, is the position of the row in the batch, counted from 1. Not thread-safe.
 *
 * <p>MariaDB keeps the length of a cell of such a table in 16 bits, and silently truncates longer cells. Therefore,
 * long values are bound outside of the table: a statement contains the text of {@link #column} instead of
 * {@code wanted.NAME}.
 *
 * <p>Parameters are bound in the order of the statement. The statement must contain the table first, and after it each
 * column that may be long, once, in the order of the names in the constructor.
 */
final class ParameterTable {
  /** Size of the largest value that the table itself holds, in bytes, with a margin below 64 KiB. */
  private static final int CELL_BYTES_MAX = 60_000;

  private final List<String> columns;
  private final String row;
  private final int width;
  private final List<@Nullable Object> cells = new ArrayList<>();
  /**
   * Values of more than {@link #CELL_BYTES_MAX} bytes, by the index of their cell. In {@link #cells}, this cell is
   * null.
   */
  private final NavigableMap<Integer, byte[]> longCells = new TreeMap<>();

  /**
   * Creates an empty table.
   *
   * @param rowWord the word before a row: {@code ROW} in MySQL, an empty text in MariaDB
   * @param columns the names of the columns after {@code place}
   */
  ParameterTable(String rowWord, String... columns) {
    this.columns = List.of(columns);
    width = columns.length + 1;
    row = rowWord + "(" + "?, ".repeat(columns.length) + "?)";
  }

  /** Begins the next row, and adds its place. */
  ParameterTable next() {
    assert cells.size() % width == 0 : cells.size();
    cells.add((long) (cells.size() / width + 1));
    return this;
  }

  ParameterTable add(long value) {
    cells.add(value);
    return this;
  }

  ParameterTable add(boolean value) {
    return add(value ? 1 : 0);
  }

  ParameterTable add(byte @Nullable [] value) {
    if (value != null && value.length > CELL_BYTES_MAX) {
      longCells.put(cells.size(), value);
      cells.add(null);
    } else {
      cells.add(value);
    }
    return this;
  }

  ParameterTable add(@Nullable String value) {
    return add(value == null ? null : value.getBytes(StandardCharsets.UTF_8));
  }

  ParameterTable add(TaskId id) {
    return add(bytes(id));
  }

  ParameterTable add(@Nullable Token token) {
    return add(token == null ? null : bytes(token));
  }

  static byte[] bytes(TaskId id) {
    return bytes(id.high(), id.low());
  }

  static byte[] bytes(Token token) {
    return bytes(token.high(), token.low());
  }

  private static byte[] bytes(long high, long low) {
    return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
  }

  int rows() {
    return cells.size() / width;
  }

  /** Returns the table as a subquery of a WITH clause. */
  String with() {
    return "wanted(place, " + String.join(", ", columns) + ") AS (VALUES " + (row + ", ").repeat(rows() - 1) + row
        + ")";
  }

  private boolean isIn(int cell, String column) {
    return cell % width == columns.indexOf(column) + 1;
  }

  /** Returns an SQL expression for the value of a column, including values outside of the table. */
  String column(String column) {
    StringBuilder cases = new StringBuilder();
    for (int cell : longCells.keySet()) {
      if (isIn(cell, column)) {
        cases.append(" WHEN ").append(cell / width + 1).append(" THEN ?");
      }
    }
    return cases.isEmpty()
        ? "wanted." + column
        : "CASE wanted.place" + cases + " ELSE wanted." + column + " END";
  }

  /** Binds all cells and long values from index {@code first} on. Returns the index of the next parameter. */
  int bind(PreparedStatement statement, int first) throws SQLException {
    int at = first;
    for (Object cell : cells) {
      switch (cell) {
        case null -> statement.setNull(at, Types.VARBINARY);
        case Long number -> statement.setLong(at, number);
        case byte[] bytes -> statement.setBytes(at, bytes);
        default -> throw new IllegalStateException("a cell is neither a number, bytes, nor null: cell=" + cell);
      }
      at++;
    }
    for (String column : columns) {
      for (Map.Entry<Integer, byte[]> cell : longCells.entrySet()) {
        if (isIn(cell.getKey(), column)) {
          statement.setBytes(at++, cell.getValue());
        }
      }
    }
    return at;
  }
}
