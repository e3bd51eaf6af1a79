//! Reads which sockets listen on port 53, and whose they are.
