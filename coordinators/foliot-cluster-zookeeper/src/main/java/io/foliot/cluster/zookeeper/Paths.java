package io.foliot.cluster.zookeeper;

import org.apache.zookeeper.common.PathUtils;

/** The paths of Foliot's nodes in ZooKeeper. */
record Paths(String root) {
  /** Returns the parent of the members' nodes. The node of a member ends with the member's session. */
  String members() {
    return root + "/members";
  }

  String member(String node) {
    return members() + "/" + node;
  }

  /**
   * Ensures that a member's name can be part of a path.
   *
   * @throws IllegalArgumentException if it cannot
   */
  void ensureMember(String node) {
    if (node.contains("/")) {
      throw new IllegalArgumentException("a node's name in ZooKeeper must not have a slash: node=" + node);
    }
    PathUtils.validatePath(member(node));
  }

  /** Returns the parent of the candidates' nodes. The candidate whose node has the smallest number leads. */
  String leader() {
    return root + "/leader";
  }

  String assignment() {
    return root + "/assignment";
  }
}
