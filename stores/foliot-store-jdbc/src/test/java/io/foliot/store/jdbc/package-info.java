/** Tests of the stores on databases, against the real servers. */
@NullMarked
package io.foliot.store.jdbc;

import org.jspecify.annotations.NullMarked;
