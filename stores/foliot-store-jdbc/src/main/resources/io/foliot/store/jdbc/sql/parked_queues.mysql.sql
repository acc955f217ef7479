-- The numbers of the queues with parked tasks. DISTINCT of the column itself is a loose index scan.
SELECT parked.part - {parked}
FROM (SELECT DISTINCT part FROM foliot_task WHERE part >= {parked}) parked
