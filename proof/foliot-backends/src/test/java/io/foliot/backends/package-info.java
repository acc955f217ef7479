/** Tests of the servers and of the proxy. */
@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
