-- Records whether the store is sealed. The statement "sealed" reads this row.
UPDATE foliot_meta SET value = ? WHERE name = 'sealed'
