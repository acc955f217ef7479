/**
 * Kills, power loss and full disks against the real server. It runs in a process of its own and is driven over HTTP;
 * the answers to its clients and the deliveries to its receiver are judged.
 */
@NullMarked
package io.foliot.kill;

import org.jspecify.annotations.NullMarked;
