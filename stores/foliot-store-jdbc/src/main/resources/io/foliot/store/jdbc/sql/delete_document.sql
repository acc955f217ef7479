-- Deletes a document. Safety rests on the version: a document that has changed since it was read is not deleted.
DELETE FROM foliot_document WHERE kind = ? AND name = ? AND version = ?
