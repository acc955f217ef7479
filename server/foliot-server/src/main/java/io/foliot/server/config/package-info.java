/** The settings, their sources, and the messages about mistakes. */
@NullMarked
package io.foliot.server.config;

import org.jspecify.annotations.NullMarked;
