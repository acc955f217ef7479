package io.foliot.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/** Creates or replaces the jobs of a file. */
@Command(name = "apply", description = {
    "Creates or replaces the jobs of a file. A setting that the file does not contain gets its default.",
    "Jobs that are not in the file stay as they are."}, footer = {"",
        "The file is YAML or JSON, with the fields of PUT /v1/jobs/{job}:", "",
        "  jobs:", "  - {job: report, queue: billing, schedule: {cron: 0 2 * * *}}",
        "  - {job: sync, queue: work, schedule: {every: 10m}, overlap: queue}", "",
        "Examples", "  foliot jobs apply -f jobs.yaml", "  foliot jobs export | foliot jobs apply -f -"})
final class JobApplyCommand implements Callable<Integer> {
  static final YAMLMapper YAML = YAMLMapper.builder().disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
      .enable(YAMLWriteFeature.MINIMIZE_QUOTES).enable(YAMLWriteFeature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS).build();
  /** Number of jobs that one request puts. */
  private static final int BATCH = 1_000;
  /** Size of the largest file, in bytes. */
  private static final int MAX_FILE = 64 << 20;

  /** Part of the message of the parser about a tab. */
  private static final String TAB = "\\t(TAB)";
  private static final Pattern LINE = Pattern.compile("line (\\d+)");

  private final Shell shell;

  @Option(names = {"-f",
      "--file"}, paramLabel = "FILE", required = true, description = "the file; - for standard input")
  private String file = "";

  @Mixin
  private final ServerOption server = new ServerOption();

  JobApplyCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    List<ObjectNode> jobs = definitions();
    int refused = 0;
    try (ServerConnection remote = server.open(shell)) {
      Map<String, Long> versions = new HashMap<>();
      JobsCommand.read(remote, null, null, null)
          .forEach(job -> versions.put(job.at("job").text(), job.at("version").number()));
      for (int i = 0; i < jobs.size(); i += BATCH) {
        List<ObjectNode> part = jobs.subList(i, Math.min(jobs.size(), i + BATCH));
        List<JsonView> answers = remote.postLines("/v1/jobs:batch",
            String.join("\n", part.stream().map(ObjectNode::toString).toList()), JobPutCommand.TIMEOUT);
        if (answers.size() != part.size()) {
          throw CommandException.failure("the server answered " + answers.size() + " of " + part.size()
              + " jobs; apply the file again: a job that is in place stays as it is");
        }
        for (int each = 0; each < part.size(); each++) {
          refused += shown(part.get(each).path("job").asString(""), answers.get(each), versions) ? 0 : 1;
        }
      }
    }
    return refused == 0 ? ExitCode.OK : ExitCode.FAILURE;
  }

  /** Prints the result for a job. Returns false if the server refused it. */
  private boolean shown(String name, JsonView answer, Map<String, Long> versions) {
    JsonView error = answer.at("error");
    if (error.exists()) {
      shell.error(Shell.plain(name) + " is refused: " + Shell.plain(error.at("detail").text()));
      return false;
    }
    Long before = versions.get(name);
    shell.line(Shell.plain(name) + (before == null
        ? " is created"
        : before == answer.at("version").number() ? " is unchanged" : " is changed"));
    return true;
  }

  private List<ObjectNode> definitions() {
    JsonNode content = content();
    JsonNode jobs = content.has("jobs") ? content.path("jobs") : content;
    List<ObjectNode> found = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode job : jobs.isArray() ? jobs.values() : List.of(jobs)) {
      if (!(job instanceof ObjectNode definition) || definition.path("job").asString("").isEmpty()) {
        throw CommandException
            .usage(file + ": expected jobs such as {job: report, queue: billing, schedule: {every: 1h}}"
                + ", but got " + shortened(job.toString()));
      }
      if (!names.add(definition.path("job").asString(""))) {
        throw CommandException.usage(file + ": the job " + definition.path("job").asString("") + " is there twice");
      }
      found.add(definition);
    }
    return found;
  }

  private static String shortened(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "...";
  }

  private static String reason(JacksonException e) {
    String message = String.valueOf(e.getOriginalMessage());
    return message.contains(TAB)
        ? "a line is indented with a tab; YAML is indented with spaces" + line(message)
        : message.lines().findFirst().orElse("") + line(message);
  }

  /** Returns the line that a message of the parser names last, which is the place of the mistake. */
  private static String line(String message) {
    return LINE.matcher(message).results().reduce((first, next) -> next).map(found -> ": line=" + found.group(1))
        .orElse("");
  }

  private JsonNode content() {
    try (InputStream in = file.equals("-") ? shell.in() : Files.newInputStream(Path.of(file))) {
      byte[] bytes = in.readNBytes(MAX_FILE + 1);
      if (bytes.length > MAX_FILE) {
        throw CommandException.usage(file + ": a file of jobs has at most " + Words.bytes(MAX_FILE));
      }
      @Nullable
      JsonNode content = YAML.readTree(bytes);
      return content == null ? YAML.createObjectNode() : content;
    } catch (NoSuchFileException e) {
      throw CommandException.failure("there is no file " + file, e);
    } catch (IOException e) {
      throw CommandException.failure(file + " cannot be read: " + e.getMessage(), e);
    } catch (JacksonException e) {
      throw CommandException.usage(file + " is neither YAML nor JSON: " + reason(e));
    }
  }
}
