-- Records that all migrations from this part have ended.
call('HSET', META, 'drained', bits)
return {1}
