/**
 * Scripts as the work of recurring jobs. A worker runs scripts only if its operator names a folder. Only files of this
 * folder can be run; the server can only choose among them.
 */
@NullMarked
package io.foliot.worker.script;

import org.jspecify.annotations.NullMarked;
