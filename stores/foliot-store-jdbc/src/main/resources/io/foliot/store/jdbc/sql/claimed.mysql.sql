-- Reads the rows of claims. A claim has won its task if the row has the token of the claim.
SELECT {clock_micros}, {live_columns}
FROM foliot_task record
WHERE record.id IN ({ids})
