/** The HTTP API: routes, their requests, their answers. */
@NullMarked
package io.foliot.server.api;

import org.jspecify.annotations.NullMarked;
