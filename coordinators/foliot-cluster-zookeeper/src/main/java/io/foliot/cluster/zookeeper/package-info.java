/** Who is alive, who leads, and who looks after which slot: through ZooKeeper. */
@NullMarked
package io.foliot.cluster.zookeeper;

import org.jspecify.annotations.NullMarked;
