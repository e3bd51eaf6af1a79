//! `kdns why`.
