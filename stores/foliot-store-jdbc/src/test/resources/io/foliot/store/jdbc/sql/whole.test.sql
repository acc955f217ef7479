-- A comment, with a {brace}.
SELECT a -- another one
  , b

FROM {table}
WHERE c = {number} AND {even}
