//! The driver that every resolver model runs on.
//!
//! A model is an `async fn` in the control flow of the C or Go source that it
//! follows; the compiler makes the state machine of it. Where the original
//! waits in `poll(2)`, the model awaits [`io::Io::receive`], and the
//! [`machine::Machine`] around it stops and says what it wants: connections,
//! queries, and until when it waits. Nothing here opens a socket or looks at
//! a clock: [`crate::simulation`] plays a machine against the rules of a scenario in
//! virtual time, and a caller with real sockets can step the same machine.

pub mod chance;
pub mod event;
pub mod failure;
pub mod io;
pub mod machine;
pub mod message;
pub mod secure;
