/** Members, the leader and the assignment of slots, through ZooKeeper. */
@NullMarked
package io.foliot.cluster.zookeeper;

import org.jspecify.annotations.NullMarked;
