/**
 * Real servers for tests and benchmarks: their programs come from Maven Central with the build, they run in processes
 * of their own on the loopback address, with the settings that production needs to lose nothing, and they can be
 * killed, paused and started again. {@link io.foliot.backends.TcpProxy} is between a client and any of them and
 * makes the network's faults.
 */
@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
