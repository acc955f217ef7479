/**
 * Scripts as the work of recurring jobs. A worker runs them only if its operator names a folder. The folder decides
 * which commands exist; the server can only choose among them.
 */
@NullMarked
package io.foliot.worker.script;

import org.jspecify.annotations.NullMarked;
