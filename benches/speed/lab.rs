//! The random scenarios that tests/resolvers holds models and programs against.

#[path = "../../tests/resolvers/lab/random/mod.rs"]
pub(crate) mod random;
#[path = "../../tests/resolvers/lab/words.rs"]
pub(crate) mod words;
