-- Raises the floor of generations. It never falls, whoever raises it.
UPDATE foliot_clock SET floor = ? WHERE floor < ?
