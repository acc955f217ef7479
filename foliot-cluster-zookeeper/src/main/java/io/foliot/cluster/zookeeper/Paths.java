package io.foliot.cluster.zookeeper;

import org.apache.zookeeper.common.PathUtils;

/** Where things are in ZooKeeper. */
record Paths(String root) {
  /** One node each, which ends with the session of its member. */
  String members() {
    return root + "/members";
  }

  /** @throws IllegalArgumentException if the member's name is none that a path can have */
  String member(String node) {
    if (node.contains("/")) {
      throw new IllegalArgumentException("a node's name in ZooKeeper has no slash: node=" + node);
    }
    String path = members() + "/" + node;
    PathUtils.validatePath(path);
    return path;
  }

  /** One node each with a number; the smallest leads. */
  String leader() {
    return root + "/leader";
  }

  String assignment() {
    return root + "/assignment";
  }
}
