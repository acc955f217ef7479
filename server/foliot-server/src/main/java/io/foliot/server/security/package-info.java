/** Who may call what: API keys, the open server on loopback, the audit log. */
@NullMarked
package io.foliot.server.security;

import org.jspecify.annotations.NullMarked;
