//! Reads the files in the syntax of resolv.conf that a node has.
