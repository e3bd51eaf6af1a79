//! Rows of the table of resolvers.

use super::{Model, Resolver};

/// One that has to be named and is of no other's family, see [`version`].
pub(super) const fn named(
    id: &'static str,
    versions: (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
) -> Resolver {
    version((id, id), versions, used_by, model)
}

/// One that has to be named, with its family, its first version and those that
/// were observed, of which the first is the model's.
pub(super) const fn version(
    (id, family): (&'static str, &'static str),
    (since, observed): (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
) -> Resolver {
    Resolver {
        id,
        is_usual: false,
        family,
        version: match observed {
            [first, ..] => first,
            [] => since,
        },
        since,
        observed,
        used_by,
        model,
    }
}

/// One of those that stand for all, see [`version`].
pub(super) const fn usual(
    ids: (&'static str, &'static str),
    versions: (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
) -> Resolver {
    Resolver {
        is_usual: true,
        ..version(ids, versions, used_by, model)
    }
}
