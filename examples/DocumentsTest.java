import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the documents are true: their Java compiles, the README's example runs, the files they name exist. */
final class DocumentsTest {
  private static final Path ROOT = Path.of("..");
  /** The class path of the tests: Surefire hides it in the manifest of a jar. */
  private static final String CLASS_PATH = System.getProperty("surefire.test.class.path",
      System.getProperty("java.class.path"));
  private static final Pattern JAVA = Pattern.compile("^```java\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern TYPE = Pattern.compile("^(?:public )?(?:final )?(?:class|record|interface|enum) (\\w+)",
      Pattern.MULTILINE);
  private static final Pattern LINK = Pattern.compile("]\\((?!https?://|#)([^)#]+)");
  private static final Pattern PROGRAM = Pattern.compile("\\bjava ([\\w./-]+\\.java)");

  /**
   * Code around each block that declares no type, by document: the imports, and the members that the blocks use. The
   * first placeholder is the name of the class, the second is the block.
   */
  private static final Map<String, String> SURROUNDINGS = Map.of("kernel/foliot-wheel/README.md", """
      import static java.util.concurrent.TimeUnit.*;
      import io.foliot.wheel.*;
      import java.time.Duration;
      import java.util.List;
      import java.util.concurrent.*;
      abstract class %s {
        interface Connection { void close(); }
        Connection connection;
        long connectionId;
        abstract void poll();
        abstract String ask();
        abstract long now();
        abstract void expire(long id);
        abstract void doOtherThings();
        abstract void sleepUntil(long tick);
        void block() throws Exception {
          %s
        }
      }
      """, "docs/stores.md", """
      import io.foliot.api.*;
      import io.foliot.core.*;
      import io.foliot.engine.Engine;
      import io.foliot.core.store.*;
      import io.foliot.store.jdbc.JdbcStore;
      import java.time.Duration;
      import java.util.List;
      abstract class %s {
        Engine engine;
        JdbcStore store;
        java.sql.Connection connection;
        Body body;
        void block() throws Exception {
          %s
        }
      }
      """, "docs/embedding.md", """
      import static org.assertj.core.api.Assertions.assertThat;
      import io.foliot.*;
      import io.foliot.api.*;
      import io.foliot.test.FoliotTest;
      import java.net.URI;
      import java.sql.Connection;
      import java.time.Duration;
      import java.time.Instant;
      import java.util.ArrayList;
      import java.util.List;
      abstract class %s {
        String key;
        record Timeout(String order) {}
        record Order(String id) {}
        interface Orders { void insert(Connection connection, Order order); }
        static class Shop {
          Shop(Foliot foliot) {}
          void cancelIfUnpaid(String order) {}
          void order(String id) {}
          boolean isCancelled(String id) { return true; }
        }
        Foliot foliot;
        Tasks<Timeout> timeouts;
        Tasks<String> exports;
        abstract void write(int page);
        abstract void report(java.time.Instant scheduledAt);
        Shop shop;
        Orders orders;
        Order order;
        javax.sql.DataSource dataSource;
        Connection connection;
        void block() throws Exception {
          %s
        }
      }
      """, "docs/jobs.md", """
      import io.foliot.*;
      import io.foliot.api.*;
      abstract class %s {
        Foliot foliot;
        abstract void report(java.time.Instant scheduledAt);
        void block() throws Exception {
          %s
        }
      }
      """, "docs/store-authors.md", """
      import io.foliot.core.TimeSource;
      import io.foliot.core.store.TaskStore;
      abstract class %s {
        static class MyStore { static TaskStore open(java.nio.file.Path folder, TimeSource clock) { return null; }
          static void free(long bytes) {} }
        java.nio.file.Path folder;
        %s
      }
      """, "docs/timing-wheels.md", """
      abstract class %s {
        long hand;
        long deadlineTick;
        int occupiedLevels;
        long[] occupied;
        void block() {
          %s
        }
      }
      """);

  @TempDir
  private Path folder = Path.of("");

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    for (String top : List.of("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "kernel/foliot-wheel/README.md")) {
      documents.add(ROOT.resolve(top));
    }
    for (String below : List.of("docs", "examples")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(below))) {
        files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
      }
    }
    return documents;
  }

  private record Block(String name, String source) {}

  private static List<Block> blocks(Path document) throws IOException {
    String name = ROOT.normalize().relativize(document.normalize()).toString();
    List<Block> blocks = new ArrayList<>();
    Matcher java = JAVA.matcher(Files.readString(document));
    while (java.find()) {
      String source = java.group(1);
      Matcher type = TYPE.matcher(source);
      if (type.find()) {
        blocks.add(new Block(type.group(1), source));
        continue;
      }
      String around = SURROUNDINGS.get(name);
      assertThat(around).as("a block of %s is neither complete nor has known surroundings:\n%s", name, source)
          .isNotNull();
      String className = "Block" + blocks.size();
      blocks.add(new Block(className, String.valueOf(around).formatted(className, source)));
    }
    return blocks;
  }

  /** Compiles a block, and returns the messages of the compiler; empty if it compiles. */
  private static String compile(Block block, Path to) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///" + block.name() + ".java"),
        JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return block.source();
      }
    };
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, UTF_8)) {
      boolean compiled = compiler.getTask(messages, files, null, List.of("-proc:none", "-nowarn", "-d", to.toString(),
          "-classpath", CLASS_PATH), null, List.of(file)).call();
      return compiled ? "" : messages + "\n" + block.source();
    }
  }

  @Test
  void theJavaOfTheDocumentsCompiles() throws IOException {
    int compiled = 0;
    for (Path document : documents()) {
      for (Block block : blocks(document)) {
        assertThat(compile(block, folder)).as("%s", document).isEmpty();
        compiled++;
      }
    }
    assertThat(compiled).isGreaterThanOrEqualTo(7);
  }

  @Test
  void theExampleOfTheReadmeRuns() throws IOException, InterruptedException {
    List<Block> blocks = blocks(ROOT.resolve("README.md"));
    assertThat(blocks).extracting(Block::name).containsExactly("Embedded");
    Path classes = Files.createDirectory(folder.resolve("classes"));
    assertThat(compile(blocks.getFirst(), classes)).isEmpty();
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        classes + File.pathSeparator + CLASS_PATH, "Embedded")
        .directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    assertThat(output.lines()).as(output).containsOnlyOnce("cancel order-7");
  }

  /** Returns the text of the first XML element with a name. The search begins at the index {@code from}. */
  private static String element(String xml, String name, int from) {
    int begin = xml.indexOf("<" + name + ">", from) + name.length() + 2;
    return xml.substring(begin, xml.indexOf("</" + name + ">", begin));
  }

  @Test
  void thePomOfTheEmbeddingPageHasTheVersionsOfTheBuild() throws IOException {
    Matcher block = Pattern.compile("^```xml\\n(<project.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(ROOT.resolve("docs/embedding.md")));
    assertThat(block.find()).isTrue();
    String page = block.group(1);
    String build = Files.readString(ROOT.resolve("pom.xml"));
    String version = element(build, "version", build.indexOf("<artifactId>foliot-parent<"));
    for (String artifact : List.of("foliot", "foliot-store-rocksdb")) {
      assertThat(element(page, "version", page.indexOf("<artifactId>" + artifact + "<"))).as(artifact)
          .isEqualTo(version);
    }
    assertThat(element(page, "version", page.indexOf("<artifactId>jackson-databind<")))
        .isEqualTo(element(build, "jackson.version", 0));
    assertThat(element(page, "maven.compiler.source", 0)).isEqualTo(element(build, "maven.compiler.release", 0));
    assertThat(element(page, "maven.compiler.target", 0)).isEqualTo(element(build, "maven.compiler.release", 0));
  }

  @Test
  void filesThatDocumentsNameExist() throws IOException {
    List<String> missing = new ArrayList<>();
    int named = 0;
    for (Path document : documents()) {
      String text = Files.readString(document);
      Matcher links = LINK.matcher(text);
      while (links.find()) {
        named++;
        if (!Files.exists(document.resolveSibling(links.group(1)))) {
          missing.add(document + ": " + links.group(1));
        }
      }
      Matcher programs = PROGRAM.matcher(text);
      while (programs.find()) {
        named++;
        if (!Files.exists(ROOT.resolve(programs.group(1)))) {
          missing.add(document + ": " + programs.group(1));
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(named).isGreaterThan(30);
  }
}
