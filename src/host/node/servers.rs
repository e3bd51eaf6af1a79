//! Reads the configuration of the DNS servers on a node.
