//! Reads the Corefiles of a node.
