/** The HTTP API: routes, what they read, what they answer. */
@NullMarked
package io.foliot.server.api;

import org.jspecify.annotations.NullMarked;
