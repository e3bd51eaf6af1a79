//! Reads the pods of a node from its processes, runtimes and logs.
