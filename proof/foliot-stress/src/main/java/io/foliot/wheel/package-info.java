/**
 * Stress of the handshakes between the threads of {@code foliot-wheel}; in its package, because the handshakes are not
 * public.
 */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
