/**
 * Tests of the real server under kills, power loss and full disks. The server runs in a process of its own and is
 * called over HTTP. The tests check the answers to its clients and the deliveries to its receiver.
 */
@NullMarked
package io.foliot.kill;

import org.jspecify.annotations.NullMarked;
