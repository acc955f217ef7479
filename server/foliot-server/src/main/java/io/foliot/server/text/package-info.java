/** Instants, durations, sizes and names as people write them. */
@NullMarked
package io.foliot.server.text;

import org.jspecify.annotations.NullMarked;
