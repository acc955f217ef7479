/** Tasks in a database that is there already: PostgreSQL, MariaDB or MySQL. */
@NullMarked
package io.foliot.store.jdbc;

import org.jspecify.annotations.NullMarked;
