package io.foliot.cluster.zookeeper;

import org.apache.zookeeper.common.PathUtils;

/** The paths of Foliot's znodes. The parameter {@code node} of a method is the name of a member. */
record Paths(String root) {
  /** Returns the parent of the members' znodes. The znode of a member exists until the member's session ends. */
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

  /** Returns the parent of the candidates' znodes. The candidate whose znode has the smallest number leads. */
  String leader() {
    return root + "/leader";
  }

  String assignment() {
    return root + "/assignment";
  }
}
