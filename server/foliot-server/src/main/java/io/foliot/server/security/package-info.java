/** Access: API keys, the access without keys on loopback, and the audit log. */
@NullMarked
package io.foliot.server.security;

import org.jspecify.annotations.NullMarked;
