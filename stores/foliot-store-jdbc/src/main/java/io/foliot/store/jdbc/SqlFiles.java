package io.foliot.store.jdbc;

import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Draft;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The SQL statements of one dialect. A statement is the resource file {@code sql/NAME.DIALECT.sql}, or {@code
 * sql/NAME.sql} if the statement is the same in all dialects.
 *
 * <p>The syntax beyond SQL:
 * <ul>
 * <li>{@code -- text} is a comment up to the end of the line. Comments and line breaks are not sent.
 * <li><code>{name}</code> is replaced by a constant of the dialect, by the file {@code sql/parts/name.DIALECT.sql}, or
 * by a text that the caller gives for each call.
 * <li><code>{name?}</code> at the beginning of a line makes the line optional; the caller chooses for each call.
 * </ul>
 *
 * <p>A caller declares the names that get their values at each call. These must be exactly the names that the file
 * leaves open. A template library was rejected, because the statements need only two constructs, and a reader of SQL
 * should not have to learn a third language.
 */
final class SqlFiles {
  private static final String FOLDER = "sql/";
  private static final String PARTS = "sql/parts/";
  private static final Pattern NAME = Pattern.compile("\\{([a-z_]+)}");
  private static final Pattern OPTION = Pattern.compile("^\\{([a-z_]+)\\?}\\s*");
  private static final String COMMENT = "--";
  /** Value of {@link Piece#when} for a piece that depends on no option. */
  private static final int ALWAYS = -1;
  /** Value of {@link Piece#gap} for a piece that is a text. */
  private static final int NONE = -1;

  private final String dialect;
  private final Map<String, String> constants;

  /**
   * Creates the files of a dialect.
   *
   * @param dialect the word for the dialect in the names of files
   * @param constants the texts of constants by name, for all files
   */
  SqlFiles(String dialect, Map<String, String> constants) {
    this.dialect = dialect;
    this.constants = Map.copyOf(constants);
  }

  /** Returns the constants of one dialect and those that both dialects share, by their names in the files. */
  static Map<String, String> constants(Map<String, String> ofDialect) {
    Map<String, String> all = new HashMap<>(ofDialect);
    all.put("delayed", Integer.toString(ColumnCodes.DELAYED));
    all.put("running", Integer.toString(ColumnCodes.RUNNING));
    all.put("finished", Integer.toString(ColumnCodes.FINISHED));
    all.put("failed", Integer.toString(ColumnCodes.FAILED));
    all.put("end_finished", Integer.toString(ColumnCodes.of(AttemptRecord.End.FINISHED)));
    all.put("end_rearmed", Integer.toString(ColumnCodes.of(AttemptRecord.End.REARMED)));
    all.put("no_end", Integer.toString(ColumnCodes.NO_END));
    all.put("parked", Integer.toString(IndexPartitions.PARKED));
    all.put("set_aside", Long.toString(Rows.SET_ASIDE));
    all.put("answer_kept_millis", Long.toString(Draft.Idempotency.KEPT_MILLIS));
    return all;
  }

  /** Returns a statement that leaves nothing open. */
  String text(String name) {
    return template(name).text();
  }

  /** Returns a part that leaves nothing open, for use in a fragment that the caller assembles. */
  String part(String name) {
    List<Piece> pieces = new ArrayList<>();
    add(pieces, ALWAYS, "{" + name + "}", List.of(), new TreeSet<>());
    return new Template(name, List.of(), pieces).text();
  }

  /**
   * Returns a statement that is completed for each call.
   *
   * @param open the values that the file leaves open: {@code name} for a text, {@code name?} for an option
   */
  Template template(String name, String... open) {
    Set<String> used = new TreeSet<>();
    List<Piece> pieces = new ArrayList<>();
    List<String> names = List.of(open);
    for (String line : lines(FOLDER, name)) {
      Matcher option = OPTION.matcher(line);
      boolean isOptional = option.lookingAt();
      int when = isOptional ? index(names, option.group(1) + "?", used) : ALWAYS;
      add(pieces, when, isOptional ? line.substring(option.end()) : line, names, used);
      literal(pieces, ALWAYS, " ");
    }
    if (!used.equals(Set.of(open))) {
      throw new IllegalStateException("a statement and its caller declare different open names: file=" + name
          + ", dialect=" + dialect + ", open=" + used + ", given=" + names);
    }
    return new Template(name, names, List.copyOf(pieces));
  }

  /** Adds a name to the used names. Returns its position among the names that the caller declares, or -1. */
  private static int index(List<String> names, String name, Set<String> used) {
    used.add(name);
    return names.indexOf(name);
  }

  /** Adds the pieces of a line, with its constants and parts replaced. A part may use constants and other parts. */
  private void add(List<Piece> pieces, int when, String line, List<String> names, Set<String> used) {
    Matcher name = NAME.matcher(line);
    int from = 0;
    while (name.find()) {
      literal(pieces, when, line.substring(from, name.start()));
      String found = name.group(1);
      String constant = constants.get(found);
      if (names.contains(found)) {
        pieces.add(new Piece(when, "", index(names, found, used)));
      } else if (constant != null) {
        literal(pieces, when, constant);
      } else {
        add(pieces, when, String.join(" ", lines(PARTS, found)), names, used);
      }
      from = name.end();
    }
    literal(pieces, when, line.substring(from));
  }

  /** Adds a text. Extends the last piece if that is a text with the same option. */
  private static void literal(List<Piece> pieces, int when, String text) {
    Piece last = pieces.isEmpty() ? null : pieces.getLast();
    if (last != null && last.gap() == NONE && last.when() == when) {
      pieces.set(pieces.size() - 1, new Piece(when, last.text() + text, NONE));
    } else {
      pieces.add(new Piece(when, text, NONE));
    }
  }

  /** Returns the lines of a file without comments and indentation. */
  private List<String> lines(String folder, String name) {
    String own = folder + name + "." + dialect + ".sql";
    String common = folder + name + ".sql";
    try (InputStream in = SqlFiles.class.getResource(own) == null
        ? SqlFiles.class.getResourceAsStream(common)
        : SqlFiles.class.getResourceAsStream(own)) {
      if (in == null) {
        throw new IllegalStateException("a statement or a part has no file: file=" + own);
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<String> lines = text.lines().map(SqlFiles::withoutComment).filter(line -> !line.isEmpty()).toList();
      for (String line : lines) {
        String sql = folder.equals(PARTS) ? line : OPTION.matcher(line).replaceFirst("");
        if (NAME.matcher(sql).replaceAll("").matches(".*[{}].*")) {
          throw new IllegalStateException(
              "a brace belongs to no name and to no option: file=" + own + ", line=" + line);
        }
      }
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException("a statement cannot be read: file=" + own, e);
    }
  }

  private static String withoutComment(String line) {
    int comment = line.indexOf(COMMENT);
    return (comment < 0 ? line : line.substring(0, comment)).strip();
  }

  /**
   * A piece of a statement: a text, or a gap for a text that the caller gives.
   *
   * @param when the position of the option that includes the piece, or {@link #ALWAYS}
   * @param text the text that is sent, if the piece is no gap
   * @param gap if the piece is a gap, the position of the name that fills the gap; otherwise {@link #NONE}
   */
  private record Piece(int when, String text, int gap) {}

  /** A statement with options and gaps. Thread-safe. */
  static final class Template {
    private final String file;
    private final List<String> names;
    private final List<Piece> pieces;

    private Template(String file, List<String> names, List<Piece> pieces) {
      this.file = file;
      this.names = names;
      this.pieces = pieces;
    }

    /** Begins a call with a text. */
    Call with(String name, Object text) {
      return new Call(this).with(name, text);
    }

    /** Begins a call with the choice of an option. */
    Call when(String option, boolean on) {
      return new Call(this).when(option, on);
    }

    private String text() {
      return new Call(this).text();
    }
  }

  /** The values of a template's names for one call. Not thread-safe. */
  static final class Call {
    private final Template template;
    private final @Nullable Object[] given;

    private Call(Template template) {
      this.template = template;
      given = new Object[template.names.size()];
    }

    Call with(String name, Object text) {
      return give(name, text.toString());
    }

    Call when(String option, boolean on) {
      return give(option + "?", on);
    }

    private Call give(String name, Object value) {
      int at = template.names.indexOf(name);
      if (at < 0) {
        throw new IllegalArgumentException("a statement has no such name: file=" + template.file + ", name=" + name);
      }
      given[at] = value;
      return this;
    }

    private Object given(int at) {
      Object value = given[at];
      if (value == null) {
        throw new IllegalStateException("a call leaves a name of a statement open: file=" + template.file + ", name="
            + template.names.get(at));
      }
      return value;
    }

    /**
     * Returns the statement as it is sent.
     *
     * @throws IllegalStateException if the call has not given a value that the statement needs
     */
    String text() {
      StringBuilder sql = new StringBuilder(1_024);
      for (Piece piece : template.pieces) {
        if (piece.when() == ALWAYS || given(piece.when()).equals(true)) {
          sql.append(piece.gap() == NONE ? piece.text() : given(piece.gap()));
        }
      }
      return sql.toString().strip();
    }
  }
}
