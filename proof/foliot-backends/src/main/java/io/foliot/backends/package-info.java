/**
 * Real servers for tests and benchmarks. Their programs come from Maven Central with the build. They run in processes
 * of their own on the loopback address, with the settings that production needs to lose nothing, and they can be
 * killed, paused and started again. {@link io.foliot.backends.TcpProxy} is placed between a client and any of them, and
 * injects faults of the network.
 */
@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
