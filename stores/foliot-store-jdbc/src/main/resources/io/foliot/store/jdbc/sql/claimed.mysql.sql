-- The results of claims: a claim has won the row that has its token.
SELECT {clock_micros}, {live_columns}
FROM foliot_task record
WHERE record.id IN ({ids})
