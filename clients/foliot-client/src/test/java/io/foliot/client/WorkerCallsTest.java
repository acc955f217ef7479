package io.foliot.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.TaskNote;
import io.foliot.client.StubServer.Request;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the requests and results of the calls about workers. */
final class WorkerCallsTest {
  private static final Lease LEASE = new Lease("t1", "secret", null);

  private final StubServer server = StubServer.answering(200, "{}");
  private final FoliotClient client = FoliotClient.builder(server.url()).build();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void assertSent(String method, String path, String body) {
    Request request = server.request();
    assertThat(request.method() + " " + request.path()).isEqualTo(method + " " + path);
    assertThat(request.body()).isEqualTo(body);
  }

  @Test
  void aClaimNamesTheZone() {
    server.answer(200, "{\"tasks\":[]}");
    client.claim("mail", new ClaimRequest(1, Duration.ZERO, Duration.ofSeconds(30), "w1", "fra1"));
    assertSent("POST", "/v1/queues/mail/claims",
        "{\"max\":1,\"wait\":\"PT0S\",\"lease\":\"PT30S\",\"worker\":\"w1\",\"zone\":\"fra1\"}");
    assertThatThrownBy(() -> new ClaimRequest(1, Duration.ZERO, Duration.ofSeconds(30), "w1", "z".repeat(65)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anExtensionNamesTheWorker() {
    assertThat(client.extend(LEASE, Duration.ofSeconds(30), TaskNote.NONE, "w1")).isEqualTo(Duration.ofSeconds(30));
    assertSent("POST", "/v1/tasks/t1/extend", "{\"token\":\"secret\",\"lease\":\"PT30S\",\"worker\":\"w1\"}");
  }

  @Test
  void workersAreListedEnabledAndDisabled() {
    String worker = "{\"worker\":\"report-1a2b3c4d\",\"state\":\"DISABLED\",\"seat\":17,\"zone\":\"fra1\","
        + "\"node\":\"n1\",\"queues\":[\"billing\",\"mails\"]}";
    WorkerView view = new WorkerView("report-1a2b3c4d", "DISABLED", 17, "fra1", "n1", List.of("billing", "mails"));
    server.answer(200, "{\"workers\":[" + worker + ",{\"worker\":\"new\",\"state\":\"LIVE\",\"queues\":[]}]}");
    assertThat(client.workers()).containsExactly(view, new WorkerView("new", "LIVE", null, "", null, List.of()));
    assertSent("GET", "/v1/workers", "");
    server.answer(200, worker);
    assertThat(client.disableWorker("report-1a2b3c4d")).isEqualTo(view);
    assertSent("POST", "/v1/workers/report-1a2b3c4d/disable", "");
    client.enableWorker("a b/c");
    assertSent("POST", "/v1/workers/a%20b%2Fc/enable", "");
  }
}
