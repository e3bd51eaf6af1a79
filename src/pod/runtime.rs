//! How the runtime writes what the kubelet hands to it.
//!
//! Source: containerd `parseDNSOptions`, CRI-O `ParseDNSOptions`, cri-dockerd
//! `rewriteResolvFile`.

use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::Version;
use crate::pod::rules::{Rules, WhenEmpty};
use crate::pod::{
    KnownFile, Makers, PodError, PodFile, Remark, RuntimeKind, Undecided, Word, WordOrigin,
    kubelet_file,
};

/// The file with its bytes.
pub(super) fn write(mut file: PodFile, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let runtime = makers.runtime;
    if let Some(most) = runtime.max_searches()
        && file.searches.len() > most
    {
        return Err(PodError::NotStarted(format!(
            "DNSOption.Searches has more than {most} domains (this version of {} takes no more)",
            runtime.kind.name()
        )));
    }
    let is_empty = file.servers.is_empty() && file.searches.is_empty() && file.options.is_empty();
    if is_empty {
        return without_words(file, makers);
    }
    file.bytes = text(&file, runtime.kind);
    Ok(file)
}

fn text(file: &PodFile, kind: RuntimeKind) -> Vec<u8> {
    let mut search = Vec::new();
    line(b"search", &file.searches, &mut search);
    let mut servers = Vec::new();
    for server in &file.servers {
        line(b"nameserver", std::slice::from_ref(server), &mut servers);
    }
    let mut options = Vec::new();
    line(b"options", &file.options, &mut options);
    match kind {
        RuntimeKind::Docker => [servers, search, options].concat(),
        RuntimeKind::Containerd | RuntimeKind::CriO => [search, servers, options].concat(),
    }
}

fn line(keyword: &[u8], words: &[Word], text: &mut Vec<u8>) {
    let Some((first, rest)) = words.split_first() else {
        return;
    };
    text.extend_from_slice(keyword);
    for word in std::iter::once(first).chain(rest) {
        text.push(b' ');
        text.extend_from_slice(&word.text);
    }
    text.push(b'\n');
}

/// The kubelet has handed over nothing.
fn without_words(mut file: PodFile, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let name = makers.runtime.kind.name();
    let is_empty = |conf: &ResolvConf| conf.source.bytes.is_empty();
    let when_empty = match (makers.runtime.when_empty(), makers.node_file) {
        (Some(known), _) => known,
        // A copy of nothing is nothing, too.
        (None, KnownFile::Read(conf)) if is_empty(conf) => WhenEmpty::Empty,
        (None, _) => {
            return Err(PodError::Unknown {
                what: Undecided::Containerd,
                why: unknown_version(makers.runtime.version),
            });
        }
    };
    match when_empty {
        WhenEmpty::Empty => {
            file.remarks.push(Remark::Empty(makers.runtime.kind));
            Ok(file)
        }
        WhenEmpty::OwnFile => Err(PodError::Unknown {
            what: Undecided::Docker,
            why: "what that has depends on Docker's own settings".to_owned(),
        }),
        WhenEmpty::Copy => match makers.node_file {
            KnownFile::Read(conf) => {
                file.remarks.push(Remark::Copied(makers.runtime.kind));
                let copied = kubelet_file::read_kubelet_file(conf, &Rules::of_version(None))
                    .unwrap_or_default();
                file.servers = of_node_file(copied.servers);
                file.searches = of_node_file(copied.searches);
                file.options = of_node_file(copied.options);
                file.draws_options = false;
                file.bytes.clone_from(&conf.source.bytes);
                Ok(file)
            }
            KnownFile::Missing => Err(PodError::NotStarted(format!(
                "open /etc/resolv.conf: no such file or directory ({name} copies the node's own \
                 file when the kubelet hands over nothing)"
            ))),
            KnownFile::Unknown(why) => Err(PodError::Unknown {
                what: Undecided::NodeFile,
                why: why.to_owned(),
            }),
        },
    }
}

/// Why it is not known which of the two the runtime does.
fn unknown_version(version: Option<Version>) -> String {
    let known = version.map_or_else(
        || "its version is not known".to_owned(),
        |it| format!("of its version only {it} is known"),
    );
    format!("{known} (--runtime containerd@1.7.13 would say it)")
}

fn of_node_file(mut words: Vec<Word>) -> Vec<Word> {
    for word in &mut words {
        if let WordOrigin::KubeletFile(place) = &word.origin {
            word.origin = WordOrigin::NodeFile(place.clone());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::{Runtime, assumed_kubelet};
    use crate::text::Source;

    fn words(texts: &[&str]) -> Vec<Word> {
        let word = |text: &&str| Word {
            text: text.as_bytes().to_vec(),
            origin: WordOrigin::Kubelet,
        };
        texts.iter().map(word).collect()
    }

    fn written(
        kind: RuntimeKind,
        version: Option<(u32, u32, u32)>,
        searches: &[&str],
        servers: &[&str],
        node_file: KnownFile<'_>,
    ) -> Result<String, bool> {
        let kubelet = assumed_kubelet();
        let version = version.map(|(major, minor, patch)| Version::release(major, minor, patch));
        let makers = Makers {
            kubelet: &kubelet,
            file: KnownFile::Missing,
            node_ips: &[],
            runtime: Runtime { kind, version },
            node_file,
        };
        let file = PodFile {
            servers: words(servers),
            searches: words(searches),
            options: words(servers),
            ..PodFile::default()
        };
        match write(file, &makers) {
            Ok(file) => Ok(String::from_utf8(file.bytes).unwrap()),
            Err(error) => Err(error.is_answer()),
        }
    }

    #[test]
    fn docker_has_another_order_of_lines() {
        let none = KnownFile::Missing;
        let check = |kind, searches: &[&str], servers: &[&str], expected: &str| {
            assert_eq!(
                written(kind, None, searches, servers, none).unwrap(),
                expected
            );
        };
        let usual = "search a b\nnameserver 1\nnameserver 2\noptions 1 2\n";
        check(RuntimeKind::Containerd, &["a", "b"], &["1", "2"], usual);
        check(RuntimeKind::CriO, &["a", "b"], &["1", "2"], usual);
        let docker = "nameserver 1\nnameserver 2\nsearch a b\noptions 1 2\n";
        check(RuntimeKind::Docker, &["a", "b"], &["1", "2"], docker);
        // The root as an old kubelet hands it over.
        check(RuntimeKind::Containerd, &[""], &[], "search \n");
    }

    #[test]
    fn old_runtimes_refuse_seven_search_domains() {
        let check = |kind, version, count: usize, expected| {
            let result = written(
                kind,
                Some(version),
                &vec!["a"; count],
                &["1"],
                KnownFile::Missing,
            );
            assert_eq!(result.err(), expected, "{kind:?} {version:?} {count}");
        };
        check(RuntimeKind::Containerd, (1, 5, 5), 7, Some(true));
        check(RuntimeKind::Containerd, (1, 5, 5), 6, None);
        check(RuntimeKind::Containerd, (1, 5, 6), 7, None);
        check(RuntimeKind::CriO, (1, 21, 0), 7, Some(true));
        check(RuntimeKind::CriO, (1, 22, 0), 7, None);
        check(RuntimeKind::Docker, (19, 3, 0), 7, None);
    }

    #[test]
    fn with_nothing_to_write_runtimes_differ() {
        let host = ResolvConf::parse(Source::new("h", b"; mine\nnameserver 127.0.0.53"));
        let read = KnownFile::Read(&host);
        let check = |kind, version, node_file, expected: Result<&str, bool>| {
            let result = written(kind, version, &[], &[], node_file);
            assert_eq!(result.as_deref().map_err(|it| *it), expected, "{kind:?}");
        };
        let copy = Ok("; mine\nnameserver 127.0.0.53");
        let unknown = KnownFile::Unknown("");
        check(RuntimeKind::Containerd, Some((2, 0, 0)), read, Ok(""));
        check(RuntimeKind::Containerd, None, read, Err(false));
        check(RuntimeKind::Containerd, Some((1, 6, 20)), read, copy);
        check(RuntimeKind::CriO, None, read, copy);
        check(RuntimeKind::CriO, None, KnownFile::Missing, Err(true));
        check(RuntimeKind::CriO, None, unknown, Err(false));
        check(RuntimeKind::Docker, None, read, Err(false));
    }

    #[test]
    fn servers_of_a_copied_file_have_their_place() {
        let host = ResolvConf::parse(Source::new("h", b"nameserver 127.0.0.53\n"));
        let kubelet = assumed_kubelet();
        let makers = Makers {
            kubelet: &kubelet,
            file: KnownFile::Missing,
            node_ips: &[],
            runtime: Runtime {
                kind: RuntimeKind::CriO,
                version: None,
            },
            node_file: KnownFile::Read(&host),
        };
        let file = write(PodFile::default(), &makers).unwrap();
        let origins: Vec<String> = file
            .servers
            .iter()
            .map(|it| format!("{:?}", it.origin))
            .collect();
        assert_eq!(
            origins,
            ["NodeFile(Place { file: \"h\", line: 1, column: 12 })"]
        );
    }
}
