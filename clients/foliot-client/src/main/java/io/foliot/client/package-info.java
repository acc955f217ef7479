/**
 * The Java client of a Foliot server, a worker for queues that are pulled, and the verifier of signed callbacks.
 *
 * <p>This package needs no other module of Foliot: client and server share only the HTTP API, version 1.
 */
@NullMarked
package io.foliot.client;

import org.jspecify.annotations.NullMarked;
