SELECT {columns}
FROM t
{some?} WHERE id IN ({ids})
{ordered?} ORDER BY {columns}
