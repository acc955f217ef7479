/**
 * Stress tests of the handshakes between the threads of {@code foliot-wheel}. They are in the package of that module,
 * because the handshakes are not public.
 */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
