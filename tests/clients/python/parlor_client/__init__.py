"""A client of Parlor as someone else would write it: from the protos alone.

It shares no code with the server and knows no game: it chooses among the legal actions that it is
given. The tests beside it use it.
"""
