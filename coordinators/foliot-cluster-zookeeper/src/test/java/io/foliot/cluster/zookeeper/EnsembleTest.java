package io.foliot.cluster.zookeeper;

import static io.foliot.cluster.zookeeper.TestNode.await;
import static io.foliot.cluster.zookeeper.TestNode.awaitAgreed;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Coordinator.Connection;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.Test;

/** Three servers of ZooKeeper, two of which fail one after the other. */
final class EnsembleTest {
  @Test
  void membersSurviveTheLossOfOneServerAndRejoinAfterLossOfTwo() throws Exception {
    try (TestingCluster cluster = new TestingCluster(3)) {
      cluster.start();
      ZooKeeperOptions options = ZooKeeperOptions.at("zookeeper://" + cluster.getConnectString());
      List<TestNode> nodes = new ArrayList<>();
      try {
        for (String name : List.of("a", "b", "c")) {
          nodes.add(new TestNode(name, "", options));
          awaitAgreed(nodes);
        }
        nodes.getFirst().coordinator.publish("one".getBytes(UTF_8), 0);
        await("all nodes read the document", () -> nodes.stream().allMatch(node -> node.version() == 1));
        List<InstanceSpec> servers = new ArrayList<>(cluster.getInstances());
        cluster.killServer(servers.get(0));
        awaitAgreed(nodes);
        cluster.killServer(servers.get(1));
        await("all nodes report the loss", () -> nodes.stream().allMatch(node -> node.reports(Connection.LOST)));
        cluster.restartServer(servers.get(0));
        awaitAgreed(nodes);
        nodes.forEach(node -> assertThat(node.document()).isEqualTo("one".getBytes(UTF_8)));
      } finally {
        nodes.forEach(TestNode::close);
      }
    }
  }
}
