/** The HTTP API, configuration, metrics, and the foliot command. */
@NullMarked
package io.foliot.server;

import org.jspecify.annotations.NullMarked;
