/**
 * The Java client of a Foliot server, the workers for pull queues and for jobs, and the verifier of signed callbacks.
 *
 * <p>This package needs no other module of Foliot. Client and server share only the HTTP API, version 1.
 */
@NullMarked
package io.foliot.client;

import org.jspecify.annotations.NullMarked;
