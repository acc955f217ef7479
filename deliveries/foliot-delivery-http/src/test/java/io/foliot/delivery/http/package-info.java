/** The tests of the callbacks. */
@NullMarked
package io.foliot.delivery.http;

import org.jspecify.annotations.NullMarked;
