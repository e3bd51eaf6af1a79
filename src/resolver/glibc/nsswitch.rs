//! Which modules are asked for a host, and when that ends.

use crate::config::resolv_conf::ResolvConf;
use crate::resolver::glibc::Version;
use crate::resolver::glibc::name::isspace;
use crate::text::WordList;

/// Source: glibc `nss/nss_database.c: nss_database_select_default` (2.35), before that
/// `nss/hosts-lookup.c: DEFAULT_CONFIG` (2.31).
const DEFAULT_HOSTS: &[u8] = b"files dns";
const DNS_FIRST: &[u8] = b"dns [!UNAVAIL=return] files";

const HOSTS: &[u8] = b"hosts";

/// The databases of `nss/databases.def`. A mistake in the line of any of them
/// spoils the file; other lines are not looked at.
const DATABASES: WordList = WordList(
    "aliases ethers group group_compat gshadow hosts initgroups netgroup networks passwd \
     passwd_compat protocols publickey rpc services shadow shadow_compat",
);

/// What a module can say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Status {
    Success,
    NotFound,
    Unavail,
    TryAgain,
}

/// What happens after a module has spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reaction {
    Return,
    Continue,
    Merge,
}

/// A module to ask, with what happens after it has spoken.
///
/// Source: glibc `nss/nss_action.h: struct nss_action` (2.36).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Service<'f> {
    pub(super) module: &'f [u8],
    try_again: Reaction,
    unavail: Reaction,
    not_found: Reaction,
    success: Reaction,
}

/// glibc cannot read the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unreadable;

/// The modules of the last `hosts` line; the default if there is none.
///
/// Source: glibc `nss/nss_database.c: nss_database_reload` (2.36).
pub(super) fn hosts_database<'f>(
    file: Option<&'f ResolvConf>,
    version: &Version,
) -> Result<Vec<Service<'f>>, Unreadable> {
    let mut hosts = None;
    for line in file.into_iter().flat_map(ResolvConf::lines) {
        if version.has_old_nsswitch {
            nss_getline(line.bytes(), &mut hosts);
        } else if line.ends_in_newline() {
            // A last line without a newline is not looked at: the end of the file
            // is already known when it has been read.
            process_line(line.bytes(), &mut hosts)?;
        }
    }
    let is_old = version.has_old_nsswitch;
    if let Some(services) = hosts.filter(|it| !is_old || !it.is_empty()) {
        return Ok(services);
    }
    let mut services = Vec::new();
    let first = version.asks_dns_before_files;
    nss_action_parse(if first { DNS_FIRST } else { DEFAULT_HOSTS }, &mut services)?;
    Ok(services)
}

/// A comment begins anywhere, one byte ends the name of the database, and a mistake ends the line.
///
/// Source: glibc `nss/nsswitch.c: nss_parse_file, nss_getline` (2.31).
fn nss_getline<'f>(line: &'f [u8], hosts: &mut Option<Vec<Service<'f>>>) {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    if let (HOSTS, [_, rest @ ..]) = database(line) {
        let services = hosts.insert(Vec::with_capacity(3));
        let _ = nss_action_parse(rest, services);
    }
}

/// Source: glibc `nss/nss_database.c: process_line` (2.36).
fn process_line<'f>(
    line: &'f [u8],
    hosts: &mut Option<Vec<Service<'f>>>,
) -> Result<(), Unreadable> {
    let (database, rest) = database(line);
    if database != HOSTS && !DATABASES.has(database) {
        return Ok(());
    }
    let mut services = Vec::with_capacity(3);
    nss_action_parse(
        skip_while(rest, |byte| isspace(byte) || byte == b':'),
        &mut services,
    )?;
    if database == HOSTS {
        *hosts = Some(services);
    }
    Ok(())
}

/// Whether glibc takes the line for one about hosts.
pub(super) fn is_hosts_line(line: &[u8]) -> bool {
    database(line).0 == HOSTS
}

/// What a line is about, and what follows that.
fn database(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.split(|&byte| byte == 0).next().unwrap_or(line);
    let line = skip_while(line, isspace);
    let rest = skip_while(line, |byte| !isspace(byte) && byte != b':');
    (before(line, rest), rest)
}

/// `( <source> ( "[" ( "!"? <status> "=" <action> )+ "]" )? )*`, as far as there is no mistake.
/// There are no comments: `#` is a source (before 2.33 they are cut before).
///
/// Source: glibc `nss/nss_action_parse.c: nss_action_parse` (2.36), before that
/// `nss/nsswitch.c: nss_parse_service_list` (2.31).
fn nss_action_parse<'f>(
    mut line: &'f [u8],
    services: &mut Vec<Service<'f>>,
) -> Result<(), Unreadable> {
    loop {
        line = skip_while(line, isspace);
        let rest = skip_while(line, |byte| !isspace(byte) && byte != b'[');
        let module = before(line, rest);
        if module.is_empty() {
            return Ok(());
        }
        let mut service = Service::new(module);
        line = skip_while(rest, isspace);
        if let Some(rest) = line.strip_prefix(b"[") {
            line = skip_while(rest, isspace);
            loop {
                line = criterion(line, &mut service)?;
                if let Some(rest) = line.strip_prefix(b"]") {
                    line = rest;
                    break;
                }
            }
        }
        services.push(service);
    }
}

/// One `STATUS=ACTION` between brackets: what follows it.
fn criterion<'f>(line: &'f [u8], service: &mut Service<'_>) -> Result<&'f [u8], Unreadable> {
    let word_byte = |byte| !isspace(byte) && byte != b'=' && byte != b']';
    let (negated, line) = match line.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let rest = skip_while(line, word_byte);
    let status = match before(line, rest).to_ascii_uppercase().as_slice() {
        b"SUCCESS" => Status::Success,
        b"UNAVAIL" => Status::Unavail,
        b"NOTFOUND" => Status::NotFound,
        b"TRYAGAIN" => Status::TryAgain,
        _ => return Err(Unreadable),
    };
    let rest = skip_while(rest, isspace);
    let line = skip_while(rest.strip_prefix(b"=").ok_or(Unreadable)?, isspace);
    let rest = skip_while(line, word_byte);
    let reaction = match before(line, rest).to_ascii_uppercase().as_slice() {
        b"RETURN" => Reaction::Return,
        b"CONTINUE" => Reaction::Continue,
        b"MERGE" => Reaction::Merge,
        _ => return Err(Unreadable),
    };
    if negated {
        let kept = service.reaction(status);
        service.set_all(reaction);
        *service.slot(status) = kept;
    } else {
        *service.slot(status) = reaction;
    }
    Ok(skip_while(rest, isspace))
}

impl<'f> Service<'f> {
    fn new(module: &'f [u8]) -> Self {
        Self {
            module,
            try_again: Reaction::Continue,
            unavail: Reaction::Continue,
            not_found: Reaction::Continue,
            success: Reaction::Return,
        }
    }

    /// What stands at the end of a list: no module, which an empty list begins with.
    pub(super) fn null() -> Self {
        Self {
            success: Reaction::Continue,
            ..Self::new(b"")
        }
    }

    /// What happens after the module has said `status` (`nss_next_action`).
    pub(super) fn reaction(&self, status: Status) -> Reaction {
        match status {
            Status::TryAgain => self.try_again,
            Status::Unavail => self.unavail,
            Status::NotFound => self.not_found,
            Status::Success => self.success,
        }
    }

    fn slot(&mut self, status: Status) -> &mut Reaction {
        match status {
            Status::TryAgain => &mut self.try_again,
            Status::Unavail => &mut self.unavail,
            Status::NotFound => &mut self.not_found,
            Status::Success => &mut self.success,
        }
    }

    fn set_all(&mut self, reaction: Reaction) {
        for status in [
            Status::TryAgain,
            Status::Unavail,
            Status::NotFound,
            Status::Success,
        ] {
            *self.slot(status) = reaction;
        }
    }
}

fn skip_while(text: &[u8], skipped: impl Fn(u8) -> bool) -> &[u8] {
    let length = text.iter().take_while(|byte| skipped(**byte)).count();
    text.get(length..).unwrap_or_default()
}

/// The part of `text` before its end `rest`.
fn before<'f>(text: &'f [u8], rest: &[u8]) -> &'f [u8] {
    let length = text.len().saturating_sub(rest.len());
    text.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::glibc::{V2_31, V2_34, V2_35, V2_36};
    use crate::scenario::file;

    fn check(text: &str, expected: Result<&[&str], Unreadable>) {
        check_of(&V2_36, text, expected);
    }

    fn check_of(version: &Version, text: &str, expected: Result<&[&str], Unreadable>) {
        let file = file("nsswitch.conf", text);
        let found = hosts_database(Some(&file), version).map(|services| {
            services
                .iter()
                .map(|service| {
                    let actions: String = [
                        service.success,
                        service.not_found,
                        service.unavail,
                        service.try_again,
                    ]
                    .iter()
                    .map(|reaction| match reaction {
                        Reaction::Return => 'r',
                        Reaction::Continue => 'c',
                        Reaction::Merge => 'm',
                    })
                    .collect();
                    format!("{} {actions}", String::from_utf8_lossy(service.module))
                })
                .collect::<Vec<_>>()
        });
        let expected =
            expected.map(|list| list.iter().map(|&it| it.to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn the_last_hosts_line_counts() {
        check("", Ok(&["files rccc", "dns rccc"]));
        check("hosts: dns\n hosts files\n", Ok(&["files rccc"]));
        check("hosts: dns\nhosts: files", Ok(&["dns rccc"]));
        check("hosts:\n", Ok(&[]));
        for text in ["", "hosts:\n"] {
            check_of(&V2_31, text, Ok(&["dns rrcr", "files rccc"]));
        }
        for version in [&V2_34, &V2_35] {
            check_of(version, "", Ok(&["files rccc", "dns rccc"]));
            check_of(version, "hosts: dns #\n", Ok(&["dns rccc", "# rccc"]));
        }
        for text in [
            "hosts: files dns\n",
            "hosts: files dns",
            "hosts:files dns# a\n",
            "passwd: a [x]\nhosts\tfiles dns b [x] c\n",
            "hosts: b\nhosts: files dns b [UNAVAIL=return\nhosts\n",
        ] {
            check_of(&V2_31, text, Ok(&["files rccc", "dns rccc"]));
        }
        check_of(&V2_31, "hosts : dns\n", Ok(&[": rccc", "dns rccc"]));
        check("hosts: a # b\n", Ok(&["a rccc", "# rccc", "b rccc"]));
        check(
            "hosts: a [ !unavail = return SUCCESS=merge]b[NOTFOUND=return]\n",
            Ok(&["a mrcr", "b rrcc"]),
        );
        check("hosts: a [NOTFOUND=return][x] b\n", Ok(&["a rrcc"]));
        check("passwd: a [x]\nhosts: dns\n", Err(Unreadable));
        check("sudoers: a [x]\nhosts: dns\n", Ok(&["dns rccc"]));
        check("hosts: dns [UNAVAIL=return\n", Err(Unreadable));
        check("hosts: dns []\n", Err(Unreadable));
    }
}
