-- Replaces a document. Safety rests on the version: a document that has changed since it was read is not replaced.
UPDATE foliot_document SET
  version = version + 1,
  content = ?
WHERE kind = ? AND name = ? AND version = ?
