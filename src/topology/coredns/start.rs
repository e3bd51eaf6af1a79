//! What CoreDNS's command line says.

/// Which Corefile a CoreDNS reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Conf {
    /// The file at this path; a relative one begins in its working directory.
    File(String),
    /// What comes in on its standard input.
    Stdin,
}

/// Flags that take no value. Of others the next argument is one.
const SWITCHES: [&str; 5] = ["plugins", "version", "quiet", "log", "logtostderr"];

/// The Corefile that a CoreDNS with these arguments reads, the program first;
/// `None`: they are not those of CoreDNS.
///
/// Source: `CoreDNS`, coremain/run.go `confLoader`, `defaultLoader`; Go, package
/// flag `parseOne`: one or two dashes, the last one counts, no flag follows a
/// word that is none.
pub fn conf(arguments: &[String]) -> Option<Conf> {
    let (program, rest) = arguments.split_first()?;
    let mut found = None;
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-') else {
            break;
        };
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None if flag.is_empty() => break,
            None if SWITCHES.contains(&flag) => (flag, None),
            None => (flag, words.next()),
        };
        if name == "conf" {
            found = value;
        }
    }
    match found {
        Some("stdin") => Some(Conf::Stdin),
        Some(path) if !path.is_empty() => Some(Conf::File(path.to_owned())),
        _ => {
            let name = program.rsplit('/').next().unwrap_or_default();
            name.contains("coredns")
                .then(|| Conf::File("Corefile".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corefile_is_that_of_the_command_line() {
        for (arguments, expected) in [
            (
                "/coredns -conf /etc/coredns/Corefile",
                "/etc/coredns/Corefile",
            ),
            ("/coredns --conf=/x", "/x"),
            ("/coredns -dns.port 1053 --conf /x", "/x"),
            ("/coredns -quiet -conf y", "y"),
            ("/coredns -conf /a -conf /b", "/b"),
            ("/coredns", "Corefile"),
            ("/coredns -conf=", "Corefile"),
            ("/bin/coredns-1.11 -p 53", "Corefile"),
            ("/coredns word -conf /x", "Corefile"),
            ("/coredns -conf stdin", "-"),
            ("/server -conf /x", "/x"),
            ("/bin/sh -c x", ""),
            ("", ""),
        ] {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            let found = match conf(&words) {
                Some(Conf::File(path)) => path,
                Some(Conf::Stdin) => "-".to_owned(),
                None => String::new(),
            };
            assert_eq!(found, expected, "{arguments}");
        }
    }
}
