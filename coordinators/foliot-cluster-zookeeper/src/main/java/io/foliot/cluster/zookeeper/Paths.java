package io.foliot.cluster.zookeeper;

import org.apache.zookeeper.common.PathUtils;

/** The paths of Foliot's nodes in ZooKeeper. */
record Paths(String root) {
  /** Returns the parent of the members' nodes, each of which ends with the session of its member. */
  String members() {
    return root + "/members";
  }

  String member(String node) {
    return members() + "/" + node;
  }

  /** @throws IllegalArgumentException if a member's name cannot be part of a path */
  void ensureMember(String node) {
    if (node.contains("/")) {
      throw new IllegalArgumentException("a node's name in ZooKeeper has no slash: node=" + node);
    }
    PathUtils.validatePath(member(node));
  }

  /** Returns the parent of the candidates' nodes, each of which has a number; the smallest one leads. */
  String leader() {
    return root + "/leader";
  }

  String assignment() {
    return root + "/assignment";
  }
}
