-- What became of claims: a row that has the token of its claim was won by it.
SELECT {clock_micros}, {live_columns}
FROM foliot_task record
WHERE record.id IN ({ids})
