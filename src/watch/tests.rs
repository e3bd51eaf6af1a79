//! Lookups as they can go.
