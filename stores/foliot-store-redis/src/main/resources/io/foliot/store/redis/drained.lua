-- Nothing is left in this part that is to cross.
call('HSET', META, 'drained', bits)
return {1}
