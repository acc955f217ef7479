/** Delivery by signed callback: an HTTP POST to the URL of the queue. {@link HttpDelivery} is the entry point. */
@NullMarked
package io.foliot.delivery.http;

import org.jspecify.annotations.NullMarked;
