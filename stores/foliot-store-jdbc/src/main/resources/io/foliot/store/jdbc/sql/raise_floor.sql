-- Raises the floor of generations. It never falls, even if several nodes raise it at once.
UPDATE foliot_clock SET floor = ? WHERE floor < ?
