//! kdns
