/** The metrics, and their text for Prometheus. */
@NullMarked
package io.foliot.server.metrics;

import org.jspecify.annotations.NullMarked;
