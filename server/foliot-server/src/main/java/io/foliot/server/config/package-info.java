/** What can be set, where it is read from, and what is said about mistakes. */
@NullMarked
package io.foliot.server.config;

import org.jspecify.annotations.NullMarked;
