//! What may differ from the queries of a prediction.

use std::io::{self, Write};

use crate::render::prediction::{number, outcome, queries};
use crate::simulation::courses::{Courses, Group, Other};

/// The keys, each behind a comma; nothing where nothing may differ.
pub(super) fn write(courses: &Courses, line: &mut Vec<u8>) -> io::Result<()> {
    if !courses.any_order.is_empty() {
        line.write_all(b",\"any_order\":")?;
        list(&courses.any_order, line, group)?;
    }
    if !courses.one_of.is_empty() {
        line.write_all(b",\"one_of\":")?;
        list(&courses.one_of, line, other)?;
    }
    if courses.is_open {
        line.write_all(b",\"more\":true")?;
    }
    Ok(())
}

/// Lanes of one query are written as its number.
fn group(group: &Group, line: &mut Vec<u8>) -> io::Result<()> {
    list(&group.lanes, line, |lane, line| match lane.as_slice() {
        [only] => number(only, line),
        _ => number(lane, line),
    })
}

fn other(other: &Other, line: &mut Vec<u8>) -> io::Result<()> {
    line.write_all(b"{\"from\":")?;
    number(other.from, line)?;
    line.write_all(b",\"to\":")?;
    number(other.to, line)?;
    line.write_all(b",\"queries\":[")?;
    queries(&other.sent, None, line)?;
    line.push(b']');
    write(&other.courses, line)?;
    if let Some(end) = &other.outcome {
        line.write_all(b",\"outcome\":")?;
        outcome(end, line)?;
    }
    line.push(b'}');
    Ok(())
}

fn list<T>(
    items: &[T],
    line: &mut Vec<u8>,
    write: impl Fn(&T, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    for (index, item) in items.iter().enumerate() {
        line.push(if index == 0 { b'[' } else { b',' });
        write(item, line)?;
    }
    line.push(b']');
    Ok(())
}
