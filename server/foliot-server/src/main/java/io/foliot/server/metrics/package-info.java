/** What is counted, and how Prometheus reads it. */
@NullMarked
package io.foliot.server.metrics;

import org.jspecify.annotations.NullMarked;
