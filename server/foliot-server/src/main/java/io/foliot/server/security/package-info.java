/** Access: API keys and scopes, the open server on loopback, the audit log. */
@NullMarked
package io.foliot.server.security;

import org.jspecify.annotations.NullMarked;
