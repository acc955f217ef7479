/** Coordination of a cluster through ZooKeeper: its members, its leader, and the assignment of slots. */
@NullMarked
package io.foliot.cluster.zookeeper;

import org.jspecify.annotations.NullMarked;
