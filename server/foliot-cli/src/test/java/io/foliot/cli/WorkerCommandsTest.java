package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.client.FoliotClient;
import io.foliot.client.Settlement;
import io.foliot.client.Worker;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the commands about workers, with a real server and a real worker. */
final class WorkerCommandsTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final FoliotServer server = FoliotServer.start(
      FoliotConfig.load(Map.of("store", "memory", "port", "0", "node", "n1"), Map.of(), null),
      new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  private final FoliotClient client = FoliotClient.builder(URI.create(server.url())).build();

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private Outcome run(String... words) {
    return Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
  }

  private String output(String... words) {
    Outcome outcome = run(words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  /** Repeats a command until its output meets a condition, and returns that output. Fails after 20 s. */
  private String eventually(Predicate<String> condition, String... words) {
    long begunNanos = System.nanoTime();
    String output = output(words);
    while (!condition.test(output)) {
      assertThat(System.nanoTime() - begunNanos).as(output).isLessThan(PATIENCE_NANOS);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
      output = output(words);
    }
    return output;
  }

  @Test
  void aWorkerIsListedDisabledAndEnabled() throws InterruptedException {
    assertThat(output("workers")).contains("no workers are known");
    output("queues", "put", "billing", "--pull");
    Worker worker = Worker.builder(client, "billing", task -> Settlement.ack()).name("report").zone("fra1")
        .pollWait(Duration.ofSeconds(1)).start();

    String listed = eventually(out -> out.contains("report-"), "workers");
    assertThat(listed).containsPattern("SEAT +WORKER +STATE +ZONE +NODE +QUEUES")
        .containsPattern("0 +report-[0-9a-f]{8} +LIVE +fra1 +n1 +billing");
    JsonView view = JsonView.parse(output("workers", "list", "--json")).at("workers").items().getFirst();
    String name = view.at("worker").text();
    assertThat(view.at("zone").text()).isEqualTo("fra1");

    assertThat(output("workers", "disable", name)).startsWith(name + " is disabled");
    eventually(out -> out.contains("DISABLED"), "workers");
    JsonView enabled = JsonView.parse(output("workers", "enable", name, "--json"));
    assertThat(enabled.at("state").text()).isEqualTo("LIVE");
    eventually(out -> out.contains("LIVE"), "workers");

    Outcome unknown = run("workers", "disable", "nothing");
    assertThat(unknown.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(unknown.err()).contains("no live worker has the name nothing", "foliot workers lists")
        .doesNotContain("/v1/");

    assertThat(worker.stop(Duration.ofSeconds(20))).isTrue();
    eventually(out -> !out.contains(name), "workers");
    assertThat(eventually(out -> out.contains("GONE"), "workers", "--gone")).contains(name);
  }
}
