/**
 * Scripts as the work of recurring jobs. A worker runs them only if its operator names a folder: which commands there
 * are is decided on the worker's machine, and the server can choose among them, no more.
 */
@NullMarked
package io.foliot.worker.script;

import org.jspecify.annotations.NullMarked;
