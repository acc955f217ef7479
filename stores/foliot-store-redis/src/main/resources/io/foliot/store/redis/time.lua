-- Returns the store's clock at this part.
return {nowMicros}
