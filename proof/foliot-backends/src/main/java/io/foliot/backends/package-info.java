/**
 * Real servers for tests and benchmarks. The build downloads their programs from Maven Central. Each server runs in a
 * process of its own on the loopback address, with the settings that production needs to lose no data, and can be
 * killed, paused and started again. {@link io.foliot.backends.TcpProxy}, between a client and a server, injects network
 * faults.
 */
@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
