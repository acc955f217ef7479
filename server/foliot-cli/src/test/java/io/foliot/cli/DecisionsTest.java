package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Checks the form of the decisions, and that {@code libraries.md} gives a reason for each dependency. Also checks that
 * each named thing exists: the tests that decisions name, the types that {@code ARCHITECTURE.md} names, and the
 * decisions that any text file refers to by number.
 */
final class DecisionsTest {
  private static final Path ROOT = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .toAbsolutePath().normalize();
  private static final Path FOLDER = ROOT.resolve("docs").resolve("decisions");
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", ".idea", "node_modules");
  /** Extensions of text files, and the names of text files without an extension. */
  private static final Set<String> TEXTS = Set.of("java", "md", "sql", "lua", "xml", "yaml", "yml", "json", "sh", "py",
      "properties", "foliot", "run");

  private static final Pattern FILE = Pattern.compile("(\\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\\.md");
  private static final Pattern SECTION = Pattern.compile("^## (.*)$", Pattern.MULTILINE);
  private static final List<String> SECTIONS = List.of("Status", "Context", "Decision", "Rejected", "Pinned by");
  private static final Pattern STATUS = Pattern.compile("(?:Accepted|(?:Accepted, amended|Superseded) by "
      + "\\[D\\d+]\\([\\w.-]+\\)(?:(?:,| and) \\[D\\d+]\\([\\w.-]+\\))*)\\.", Pattern.DOTALL);
  private static final String NOT_PINNED = "Not pinned by a test: ";
  private static final Pattern DECISION = Pattern.compile("\\bD(\\d{1,3})\\b");
  /** A type, perhaps with a member. A name that has only capitals does not match, because it is a constant. */
  private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:[#.](\\w+))?`");
  private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|record|enum) ([A-Z]\\w+)");
  private static final Pattern PROGRAM = Pattern.compile("`(\\w+)\\.(?:lua|sql)`");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final Pattern DEPENDENCY = Pattern.compile(
      "<dependency>\\s*<groupId>([^<]+)</groupId>(.*?)</dependency>",
      Pattern.DOTALL);
  /** Labels of documents that are not in the repository: a reader of the repository cannot look them up. */
  private static final Pattern PAPER = Pattern
      .compile("\\b(?:DESIGN|PROMISES|TRIAL|STYLE|REVIEW|HELPER)(?:\\.md\\b|\\s[A-Z]?\\d)"
          + "|/work/|\\([ABCPRS]\\d{1,2}(?:, [ABCPRS]\\d{1,2})*\\)|\\b(?:[Rr]ules?|[Ff]indings?) [A-Z]\\d{1,2}\\b"
          + "|\\b[Ii]ssue \\d");

  /** The sources that declare a type, by its simple name. */
  private record Sources(Map<String, List<String>> byType) {
    /** Returns whether a name exists: a type, {@code Type.member}, or {@code Type#method}. */
    boolean has(MatchResult name) {
      List<String> declaring = byType.getOrDefault(name.group(1), List.of());
      if (name.group(2) == null) {
        return !declaring.isEmpty();
      }
      Pattern member = Pattern.compile("\\b" + name.group(2) + (name.group().contains("#") ? "\\(" : "\\b"));
      return declaring.stream().anyMatch(text -> member.matcher(text).find());
    }
  }

  private static Map<Path, String> texts() throws IOException {
    Map<Path, String> texts = new TreeMap<>();
    Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
        return SKIPPED_FOLDERS.contains(String.valueOf(folder.getFileName()))
            ? FileVisitResult.SKIP_SUBTREE
            : FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        String name = String.valueOf(file.getFileName());
        if (TEXTS.contains(name.substring(name.lastIndexOf('.') + 1))) {
          try {
            texts.put(ROOT.relativize(file), Files.readString(file));
          } catch (MalformedInputException e) {
            // Skipped: the input of a test is deliberately not UTF-8.
          }
        }
        return FileVisitResult.CONTINUE;
      }
    });
    // If the test read the wrong folder, it would find no problem.
    assertThat(texts).hasSizeGreaterThan(500);
    return texts;
  }

  private static Sources sources(Map<Path, String> texts) {
    Map<String, List<String>> byType = new TreeMap<>();
    texts.forEach((file, text) -> {
      if (file.toString().endsWith(".java")) {
        TYPE.matcher(text).results().map(type -> type.group(1)).distinct()
            .forEach(type -> byType.computeIfAbsent(type, any -> new ArrayList<>()).add(text));
      }
    });
    return new Sources(byType);
  }

  private static Map<String, String> decisions() throws IOException {
    Map<String, String> decisions = new TreeMap<>();
    try (var files = Files.list(FOLDER)) {
      for (Path file : files.toList()) {
        decisions.put(String.valueOf(file.getFileName()), Files.readString(file));
      }
    }
    decisions.remove("README.md");
    decisions.remove("libraries.md");
    assertThat(decisions).hasSizeGreaterThanOrEqualTo(69);
    return decisions;
  }

  private static String section(String text, String name) {
    int start = text.indexOf("\n## " + name + "\n");
    if (start < 0) {
      return "";
    }
    String after = text.substring(start + "\n## \n".length() + name.length());
    int end = after.indexOf("\n## ");
    return (end < 0 ? after : after.substring(0, end)).strip();
  }

  /** Returns the problems of a decision's form. */
  private static List<String> formProblems(String file, String text) {
    List<String> problems = new ArrayList<>();
    Matcher name = FILE.matcher(file);
    if (!name.matches()) {
      return List.of(file + ": name the file by its number and title: 0018-a-plain-statement.md");
    }
    if (!text.startsWith("# D" + Integer.parseInt(name.group(1)) + ". ")) {
      problems.add(file + ": begin with the number of the file and the decision as a statement: # D18. Title");
    }
    List<String> sections = SECTION.matcher(text).results().map(found -> found.group(1)).toList();
    if (!sections.equals(SECTIONS)) {
      problems.add(file + ": expected the sections " + SECTIONS + ", but got " + sections);
    }
    for (String each : SECTIONS) {
      if (section(text, each).isEmpty()) {
        problems.add(file + ": the section has no text: " + each);
      }
    }
    if (!STATUS.matcher(section(text, "Status").replace('\n', ' ')).matches()) {
      problems.add(file + ": expected the status \"Accepted.\", \"Accepted, amended by [D54](...).\" or"
          + " \"Superseded by [D54](...).\", but got " + section(text, "Status"));
    }
    return problems;
  }

  /** Returns the problems of the tests that a decision names. */
  private static List<String> pinProblems(String file, String text, Sources sources) {
    List<String> problems = new ArrayList<>();
    String pins = section(text, "Pinned by");
    List<MatchResult> named = NAME.matcher(pins).results().toList();
    named.stream().filter(pin -> !sources.has(pin)).map(pin -> file + ": no such test: " + pin.group())
        .forEach(problems::add);
    boolean isPinned = named.stream()
        .anyMatch(pin -> pin.group(1).endsWith("Test") || pin.group(1).endsWith("Contract"));
    boolean hasReason = pins.startsWith(NOT_PINNED) && pins.length() > NOT_PINNED.length();
    if (!isPinned && !hasReason) {
      problems.add(file + ": name a test as `SomeTest` or `SomeTest#aMethod`, or write \"" + NOT_PINNED + "reason\"");
    }
    return problems;
  }

  private static List<String> unknownNames(String text, Sources sources) {
    return NAME.matcher(text).results()
        .filter(name -> !sources.has(name)).map(MatchResult::group).distinct().toList();
  }

  @Test
  void eachDecisionHasItsSectionsInOrder() throws IOException {
    List<String> problems = new ArrayList<>();
    decisions().forEach((file, text) -> problems.addAll(formProblems(file, text)));
    assertThat(problems).isEmpty();

    String valid = """
        # D7. Title

        ## Status
        Accepted.

        ## Context
        c

        ## Decision
        d

        ## Rejected
        r

        ## Pinned by
        - `ATest`
        """;
    assertThat(formProblems("0007-title.md", valid)).isEmpty();
    assertThat(formProblems("0008-title.md", valid)).as("another number").hasSize(1);
    assertThat(formProblems("7-title.md", valid)).as("not a name of a decision").hasSize(1);
    assertThat(formProblems("0007-title.md", valid.replace("## Rejected\nr\n\n", ""))).as("a section is absent")
        .hasSize(2);
    assertThat(formProblems("0007-title.md", valid.replace("\nd\n", "\n"))).as("a section is empty").hasSize(1);
    assertThat(formProblems("0007-title.md", valid.replace("Accepted.", "Perhaps."))).as("not a status").hasSize(1);
  }

  @Test
  void eachPinnedTestExists() throws IOException {
    Sources sources = sources(texts());
    List<String> problems = new ArrayList<>();
    decisions().forEach((file, text) -> problems.addAll(pinProblems(file, text, sources)));
    assertThat(problems).isEmpty();

    String head = "\n## Pinned by\n";
    assertThat(pinProblems("f", head + "- `TidyTest`, `DecisionsTest#eachPinnedTestExists`", sources)).isEmpty();
    assertThat(pinProblems("f", head + "- `TidyTest`, `Un" + "knownTest`", sources)).as("no such class").hasSize(1);
    assertThat(pinProblems("f", head + "- `TidyTest#un" + "known`", sources)).as("no such method").hasSize(1);
    assertThat(pinProblems("f", head + "by reading", sources)).as("no test").hasSize(1);
    assertThat(pinProblems("f", head + "Not pinned by a test: a matter of the build.", sources)).isEmpty();
  }

  @Test
  void numbersOfDecisionsAreUnique() throws IOException {
    assertThat(decisions().keySet()).extracting(file -> file.substring(0, 4)).doesNotHaveDuplicates();
  }

  @Test
  void theIndexListsEachDecision() throws IOException {
    String index = Files.readString(FOLDER.resolve("README.md"));
    List<String> missing = decisions().keySet().stream()
        .filter(file -> !index.contains("| [D" + Integer.parseInt(file.substring(0, 4)) + "](" + file + ") | "))
        .toList();
    assertThat(missing).as("add these to docs/decisions/README.md").isEmpty();
  }

  @Test
  void everyReferenceToADecisionResolves() throws IOException {
    Set<Integer> known = decisions().keySet().stream().map(file -> Integer.parseInt(file.substring(0, 4)))
        .collect(Collectors.toSet());
    List<String> unknown = new ArrayList<>();
    texts().forEach((file, text) -> DECISION.matcher(text).results()
        .filter(found -> !known.contains(Integer.parseInt(found.group(1))))
        .forEach(found -> unknown.add(file + ": " + found.group())));
    assertThat(unknown).isEmpty();
  }

  @Test
  void namesInTheArchitectureExist() throws IOException {
    Map<Path, String> texts = texts();
    Sources sources = sources(texts);
    String architecture = String.valueOf(texts.get(Path.of("ARCHITECTURE.md")));
    assertThat(unknownNames(architecture, sources)).isEmpty();
    assertThat(NAME.matcher(architecture).results().count()).as("names are found").isGreaterThan(40);
    assertThat(unknownNames("`Task" + "Dog`", sources)).as("an unknown name is found").hasSize(1);

    Set<String> programs = texts.keySet().stream()
        .map(file -> String.valueOf(file.getFileName()).replaceFirst("\\..*", "")).collect(Collectors.toSet());
    assertThat(PROGRAM.matcher(architecture).results().map(found -> found.group(1))).isSubsetOf(programs);
  }

  @Test
  void everyDependencyHasItsReason() throws IOException {
    String libraries = Files.readString(FOLDER.resolve("libraries.md"));
    List<String> missing = new ArrayList<>();
    int found = 0;
    for (Map.Entry<Path, String> pom : texts().entrySet()) {
      if (!pom.getKey().endsWith("pom.xml") || pom.getKey().getNameCount() == 1) {
        continue;
      }
      Matcher dependencies = DEPENDENCY.matcher(pom.getValue());
      while (dependencies.find()) {
        Matcher artifact = ARTIFACT.matcher(dependencies.group(2));
        if (!dependencies.group(1).matches("io\\.foliot|\\$\\{project.*") && artifact.find()) {
          found++;
          if (!libraries.contains("`" + artifact.group(1) + "`")) {
            missing.add(pom.getKey() + ": " + artifact.group(1));
          }
        }
      }
    }
    assertThat(missing).as("give the reason for these in docs/decisions/libraries.md").isEmpty();
    assertThat(found).isGreaterThan(60);
  }

  @Test
  void nothingRefersToPapersOutsideTheRepository() throws IOException {
    List<String> found = new ArrayList<>();
    texts().forEach((file, text) -> {
      if (!file.endsWith("DecisionsTest.java")) {
        PAPER.matcher(text).results().forEach(label -> found.add(file + ": " + label.group()));
      }
    });
    assertThat(found).as("write the rule itself, because a reader cannot look the label up").isEmpty();
    assertThat(List.of("as DESIGN.md has it", "(R9, R19)", "REVIEW A3", "rule S6")).allMatch(PAPER.asPredicate());
  }
}
