/**
 * Kills, power loss and full disks against the real server: it runs in a process of its own, is driven over HTTP, and
 * is judged by what its clients were answered and what its receiver saw.
 */
@NullMarked
package io.foliot.kill;

import org.jspecify.annotations.NullMarked;
