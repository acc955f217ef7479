-- Records whether the store is sealed, for the statement sealed.
UPDATE foliot_meta SET value = ? WHERE name = 'sealed'
