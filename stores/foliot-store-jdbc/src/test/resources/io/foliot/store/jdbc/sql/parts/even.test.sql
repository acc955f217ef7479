-- A part that contains another part.
d % {two} = 0
