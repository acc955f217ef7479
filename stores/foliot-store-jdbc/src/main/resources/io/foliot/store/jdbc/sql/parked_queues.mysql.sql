-- Reads the numbers of the queues with parked tasks. DISTINCT of the plain column is a loose index scan.
SELECT parked.part - {parked}
FROM (SELECT DISTINCT part FROM foliot_task WHERE part >= {parked}) parked
