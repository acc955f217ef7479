/**
 * Tests of the real server under faults: kills, power loss, full disks, and faults of the store or the network. Each
 * server runs in a process of its own and is called over HTTP. The tests check the answers to clients, the deliveries
 * to receivers, and the logs of workers.
 */
@NullMarked
package io.foliot.kill;

import org.jspecify.annotations.NullMarked;
