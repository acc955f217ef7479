-- Returns the time by this part's clock, in microseconds since 1970.
return {nowMicros}
