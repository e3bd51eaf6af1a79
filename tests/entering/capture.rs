pub(crate) fn getent() {}
