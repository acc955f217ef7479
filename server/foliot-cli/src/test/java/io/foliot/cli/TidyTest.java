package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks rules of style that the compiler and the formatter do not check. Each failure gives the remedy. */
final class TidyTest {
  static final Path ROOT = Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", "..");
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", ".idea", "node_modules");
  private static final int MAX_COLUMNS = 120;
  private static final int MAX_LINES = 600;

  private static final Pattern COMMENT = Pattern.compile("^\\s*(?:/\\*\\*|\\*|//)\\s");
  /** Words that must not begin a comment, because they begin a clause without a subject, or name no party. */
  private static final Pattern BANNED = Pattern.compile("^\\s*(?:/\\*\\*|//)\\s+(?:@\\w+ )?"
      + "(?:Who|Whoever|Whose|Whom|Nobody|Somebody|Everybody|Anybody|For how long|Since when|Until when"
      + "|(?:Of|By|To|With) whom|Of which|Neither|What|Whatever|Why|How|Has|Told|None|So (?:many|much|long))\\b");
  /** The same words, on the line after the opening of a comment or at the start of a later paragraph. */
  private static final Pattern PARAGRAPH = Pattern.compile(BANNED.pattern().replace("(?:/\\*\\*|//)", "\\*")
      .replace("(?:@", "(?:<p>)?(?:@"));
  /** A comment of a script, an SQL statement or a POM. */
  private static final Pattern SCRIPT_COMMENT = Pattern.compile("^\\s*(?:--|#|<!--)\\s+\\S.*");
  private static final Pattern SCRIPT_BANNED = Pattern
      .compile(BANNED.pattern().replace("(?:/\\*\\*|//)", "(?:--|#|<!--)"));
  /** Names of migrations. A migration cannot change, because databases keep its checksum. */
  private static final Pattern MIGRATION = Pattern.compile("V\\d+__.*\\.sql$");
  /** The first words of a method's documentation: a verb in the third person. */
  private static final Pattern VERB = Pattern.compile("^(?:[\\w-]+s[:,;.]?|Called|As|@\\w+|\\{@\\w+.*)(?: .*)?$");
  /** First words that end in s, but are not verbs. */
  private static final Pattern NO_VERB = Pattern.compile("^(?:Tasks|Keys|Bytes|Items|Its|This|Whether|Has)\\b.*");
  /** The declaration of a method that is not private. */
  private static final Pattern METHOD = Pattern
      .compile("^ {2,4}(?!private\\b)(?!.*\\b(?:class|record|interface|enum)\\b)"
          + "[^=(]* [a-z]\\w*\\(.*");
  /** Idioms. Comments must use the technical verb or the name of the party instead. */
  private static final Pattern IDIOM = Pattern
      .compile("\\b(?:stands? (?:for|still|at|on)|stood still|is away|are away|goes on|work(?:s|ed) off"
          + "|(?:is|are|was|were|be|been|being) told|look(?:s|ed) at|is none of|bec(?:omes|ame) of|nobody|somebody|everybody"
          + "|anybody|whoever)\\b");
  /** The declaration of a method without a result, such as a test. */
  private static final Pattern TEST = Pattern.compile("^\\s*(?:public )?(?:final )?void (\\w+)\\(");
  private static final int MAX_TEST_NAME = 60;
  /** Idioms in names of tests, and first words of names without a subject. */
  private static final Pattern NAME_IDIOM = Pattern
      .compile("^(?:what(?:ever)?|who|whose|how|why)[A-Z]|(?i)nobody|somebody|whoever|says?So(?![a-z])|standsStill"
          + "|stoodStill|goesOn(?![a-z])|workedOff|(?:is|are)Told(?![a-z])|looks?At");
  /** The declaration of a type at the top level. */
  private static final Pattern TYPE = Pattern
      .compile("^(?:public |abstract |final |sealed )*(?:class|interface|record|enum)"
          + " ");

  /** An instanceof test for the class of a store, or a cast to it. A type in a link of a comment does not match. */
  private static final Pattern STORE_BY_CLASS = Pattern.compile("\\binstanceof (?:final )?\\w*Store\\b"
      + "|\\((?:RocksDb|Redis|Jdbc|Memory)Store\\) ?\\w");

  private record Line(Path file, int number, String text) {
    @Override
    public String toString() {
      return file + ":" + number + ": " + text.strip();
    }
  }

  /** Returns the files of the repository with one of these endings, as paths below {@link #ROOT}. */
  static List<Path> files(String... endings) throws IOException {
    List<Path> found = new ArrayList<>();
    Path root = ROOT.toAbsolutePath().normalize();
    Files.walkFileTree(root, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
        return SKIPPED_FOLDERS.contains(String.valueOf(folder.getFileName()))
            ? FileVisitResult.SKIP_SUBTREE
            : FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        for (String ending : endings) {
          if (file.toString().endsWith(ending)) {
            found.add(root.relativize(file));
          }
        }
        return FileVisitResult.CONTINUE;
      }
    });
    // If the test read the wrong folder, it would find no problem.
    assertThat(found).isNotEmpty();
    found.sort(null);
    return found;
  }

  private static List<Line> lines(Path file) {
    try {
      List<String> text = Files.readAllLines(ROOT.toAbsolutePath().normalize().resolve(file));
      List<Line> lines = new ArrayList<>(text.size());
      for (int i = 0; i < text.size(); i++) {
        lines.add(new Line(file, i + 1, text.get(i)));
      }
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Checks the comments of Java, and all lines of Lua and SQL. The formatter limits the lines of Java code. A
   * line with a Maven command may be longer.
   */
  @Test
  void noLineOfACommentIsTooLong() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      lines(file).stream().filter(line -> COMMENT.matcher(line.text()).find() && !line.text().contains("mvn "))
          .filter(line -> line.text().length() > MAX_COLUMNS).forEach(found::add);
    }
    for (Path file : files(".lua", ".sql")) {
      lines(file).stream().filter(line -> line.text().length() > MAX_COLUMNS).forEach(found::add);
    }
    assertThat(found).as("break these lines at %d columns", MAX_COLUMNS).isEmpty();
  }

  /** Tables, headings, images, fenced code and lines without a space are omitted, because they cannot be broken. */
  @Test
  void noLineOfADocumentIsTooLong() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".md")) {
      boolean fenced = false;
      for (Line line : lines(file)) {
        fenced ^= line.text().strip().startsWith("```");
        boolean whole = fenced || line.text().startsWith("|") || line.text().startsWith("#")
            || line.text().startsWith("![") || !line.text().contains(" ");
        if (!whole && line.text().length() > MAX_COLUMNS) {
          found.add(line);
        }
      }
    }
    assertThat(found).as("break these lines at %d columns", MAX_COLUMNS).isEmpty();
  }

  @Test
  void noCommentBeginsWithAClauseThatHasNoSubject() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      lines(file).stream().filter(line -> BANNED.matcher(line.text()).find()).forEach(found::add);
    }
    assertThat(found).as("begin these comments with what the thing does or is, and name the party: \"An owner ...\","
        + " \"Returns ...\", \"Longest pause ...\"").isEmpty();
    assertThat(BANNED.matcher("  /** Until when it sleeps. */").find()).as("a breach is found").isTrue();
  }

  @Test
  void noParagraphBeginsWithAClauseThatHasNoSubject() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      String before = "";
      for (Line line : lines(file)) {
        boolean begins = before.strip().equals("/**") || line.text().contains("* <p>");
        if (begins && PARAGRAPH.matcher(line.text()).find()) {
          found.add(line);
        }
        before = line.text();
      }
    }
    for (Path file : files(".lua", ".sql", ".py", ".sh", ".yaml", ".properties", "pom.xml", "foliot", "run")) {
      if (!MIGRATION.matcher(file.toString()).find()) {
        lines(file).stream().filter(line -> SCRIPT_COMMENT.matcher(line.text()).find())
            .filter(line -> SCRIPT_BANNED.matcher(line.text()).find() || IDIOM.matcher(line.text()).find())
            .forEach(found::add);
      }
    }
    assertThat(found).as("begin these with what the thing does or is, name the party, and use no idiom").isEmpty();
    assertThat(PARAGRAPH.matcher("   * How many rounds a run does.").find()).as("a breach is found").isTrue();
    assertThat(PARAGRAPH.matcher(" * <p>Whatever changes it").find()).as("a breach is found").isTrue();
    assertThat(SCRIPT_BANNED.matcher("  -- What runs goes the general way.").find()).as("a breach is found").isTrue();
  }

  /** Omits tests, proof and private methods: it is enough if their comments give a reason. */
  @Test
  void theDocumentationOfAMethodBeginsWithAVerb() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      if (file.toString().contains("/src/main/") && !file.startsWith("proof")) {
        found.addAll(methodsWithoutAVerb(lines(file)));
      }
    }
    assertThat(found).as("begin these with a verb in the third person: \"Returns ...\", \"Notes that ...\"").isEmpty();
    assertThat(methodsWithoutAVerb(Stream.of("  /** The engine. */", "  public Engine engine() {")
        .map(text -> new Line(Path.of("Engine.java"), 1, text)).toList())).as("a breach is found").hasSize(1);
  }

  private static List<Line> methodsWithoutAVerb(List<Line> lines) {
    List<Line> found = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).text().strip().startsWith("/**")) {
        continue;
      }
      String text = lines.get(i).text().strip().replaceFirst("^/\\*\\* ?", "");
      String first = text.isEmpty() ? lines.get(i + 1).text().strip().replaceFirst("^\\* ?", "") : text;
      int declaration = i;
      while (!lines.get(declaration).text().endsWith("*/")) {
        declaration++;
      }
      declaration++;
      while (lines.get(declaration).text().strip().matches("@\\w+(?:\\(.*\\))?")) {
        declaration++;
      }
      if (METHOD.matcher(lines.get(declaration).text()).matches()
          && (!VERB.matcher(first).matches() || NO_VERB.matcher(first).matches())) {
        found.add(lines.get(declaration));
      }
    }
    return found;
  }

  @Test
  void noCommentHasAnIdiomInPlaceOfAVerb() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      lines(file).stream().filter(line -> COMMENT.matcher(line.text()).find() && IDIOM.matcher(line.text()).find())
          .forEach(found::add);
    }
    assertThat(found)
        .as("write the technical verb and name the party: an owner is paused, a loop continues, a lane is"
            + " drained, a poll examines records, a store reports, a caller gets")
        .isEmpty();
    assertThat(IDIOM.matcher("   * A node that stands still.").find()).as("a breach is found").isTrue();
  }

  @Test
  void noDocumentHasAnIdiomInPlaceOfAVerb() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".md")) {
      lines(file).stream().filter(line -> IDIOM.matcher(line.text()).find()).forEach(found::add);
    }
    assertThat(found).as("write the technical verb and name the party").isEmpty();
  }

  @Test
  void testNamesAreShortProperties() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      boolean annotated = false;
      for (Line line : lines(file)) {
        annotated |= line.text().strip().startsWith("@Test") || line.text().strip().startsWith("@ParameterizedTest");
        Matcher test = TEST.matcher(line.text());
        if (annotated && test.find()) {
          annotated = false;
          if (test.group(1).length() > MAX_TEST_NAME || NAME_IDIOM.matcher(test.group(1)).find()) {
            found.add(line);
          }
        }
      }
    }
    assertThat(found).as("name a test after its property, with a subject and a verb, in at most %d characters",
        MAX_TEST_NAME).isEmpty();
    assertThat(NAME_IDIOM.matcher("aClosedClientSaysSo").find()).as("a breach is found").isTrue();
    assertThat(NAME_IDIOM.matcher("whatIsOverIsForgotten").find()).as("a name without a subject").isTrue();
    assertThat(NAME_IDIOM.matcher("wholeRecordsAreRead").find()).as("a name with a subject").isFalse();
  }

  @Test
  void noCodeTestsTheClassOfAStore() throws IOException {
    List<Line> found = new ArrayList<>();
    for (Path file : files(".java")) {
      if (file.toString().contains("/src/main/")) {
        lines(file).stream().filter(line -> STORE_BY_CLASS.matcher(line.text()).find()).forEach(found::add);
      }
    }
    assertThat(found).as("do not test the class of a store: TaskStore.capability returns what the store can do")
        .isEmpty();
    assertThat(STORE_BY_CLASS.matcher("store instanceof RocksDbStore rocks").find()).as("a breach is found").isTrue();
    assertThat(STORE_BY_CLASS.matcher("(RedisStore) store").find()).as("a breach is found").isTrue();
  }

  /** A file may have more than {@link #MAX_LINES} lines if the comment of its class gives the reason. */
  @Test
  void aLongFileOfMainGivesTheReason() throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path file : files(".java")) {
      List<Line> lines = lines(file);
      if (file.toString().contains("/src/main/") && lines.size() > MAX_LINES) {
        String comment = String.join("\n", lines.stream().map(Line::text)
            .takeWhile(text -> !TYPE.matcher(text).find()).filter(text -> COMMENT.matcher(text).find()).toList());
        if (!comment.contains("This class is one file because")) {
          found.add(file);
        }
      }
    }
    assertThat(found)
        .as("split these files, or say in the class comment, in a sentence that begins with"
            + " \"This class is one file because\", why their more than %d lines belong together", MAX_LINES)
        .isEmpty();
  }
}
