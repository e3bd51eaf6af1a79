//! The status of dig.

use crate::cli::streams::Status;
use crate::dig::command_line::End;

/// The program's, of the machine's.
pub(super) fn of_machine(status: u8) -> Status {
    match status {
        0 => Status::Clean,
        9 => Status::NoReply,
        10 => Status::Internal,
        _ => Status::Found,
    }
}

/// Of what ended the reading of words.
pub(super) fn of_end(end: End) -> Status {
    match end {
        End::Help | End::Version => Status::Clean,
        End::Internal => Status::Internal,
        End::Usage | End::Fatal => Status::Found,
    }
}
