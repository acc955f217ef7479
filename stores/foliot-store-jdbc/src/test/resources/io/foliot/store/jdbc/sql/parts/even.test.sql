-- A part, with a part of its own.
d % {two} = 0
