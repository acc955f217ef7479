/** A store that keeps tasks in an existing database: PostgreSQL, MariaDB or MySQL. */
@NullMarked
package io.foliot.store.jdbc;

import org.jspecify.annotations.NullMarked;
