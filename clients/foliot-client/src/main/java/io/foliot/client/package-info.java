/**
 * The Java client of a Foliot server, a worker for queues that are pulled, and the verifier of signed callbacks.
 *
 * <p>Nothing here needs another module of Foliot: what the client and the server share is the HTTP API, version 1.
 */
@NullMarked
package io.foliot.client;

import org.jspecify.annotations.NullMarked;
