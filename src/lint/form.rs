//! The forms of files.

/// How a file is to be parsed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// In the syntax of resolv.conf.
    ResolvConf,
    /// YAML or JSON: what it holds shows in each document.
    Yaml,
    /// A Corefile.
    Corefile,
    /// Directives that a Corefile imports.
    CorefilePart,
    /// A systemd unit or a drop-in for one.
    Unit,
    /// Variables for a unit.
    Environment,
    /// A snap's file of arguments.
    Arguments,
    /// User data of several parts.
    Mime,
    /// `resolved.conf`, `NetworkManager.conf` and their drop-ins.
    Settings,
    /// The configuration of nginx.
    Nginx,
    /// The configuration of `HAProxy`.
    Haproxy,
    /// A script of a shell, or a Dockerfile: its heredocs are read.
    Script,
    /// Terraform's language: its heredocs and encoded values are read.
    Terraform,
    /// Any of these but the first in UTF-16, which is not read.
    Wide,
}
