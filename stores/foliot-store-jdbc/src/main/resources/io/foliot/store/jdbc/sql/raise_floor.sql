-- Raises the floor of generations. The floor never falls, even if several nodes raise it at once.
UPDATE foliot_clock SET floor = ? WHERE floor < ?
