//! Which release of the kubelet or of a runtime a Go program is.
//!
//! The linker writes the modules of a program into it and, unless paths were
//! cut (`-trimpath`), the values that were given to variables. Those values are
//! in any case texts that stand alone, with a zero byte behind.
//!
//! Source: Go `cmd/go/internal/load/pkg.go: setBuildInfo`,
//! `cmd/link/internal/ld/data.go: addstrdata`.

use memchr::memchr_iter;

use crate::kubelet::Version;

/// A program with releases.
#[derive(Debug)]
pub struct Product {
    /// The end of the import path of its own `main` package.
    main: &'static str,
    /// The module that is versioned as it is, also inside other programs.
    module: &'static str,
    /// The end of the variable that has its version.
    variable: &'static str,
    /// What stands in its logs when it starts: a text in the line, and what
    /// stands before its version.
    said: &'static [(&'static str, &'static str)],
}

/// The kubelet, also inside k3s and `kubelite`.
pub const KUBELET: Product = Product {
    main: "k8s.io/kubernetes/cmd/kubelet",
    module: "k8s.io/kubernetes",
    variable: "k8s.io/component-base/version.gitVersion",
    said: &[
        ("kubelet", "kubeletVersion=\""),
        ("kubelet", "Kubelet version: "),
        ("server.go", "] Version: "),
    ],
};

/// containerd, also inside k3s.
pub const CONTAINERD: Product = Product {
    main: "/cmd/containerd",
    module: "github.com/containerd/containerd",
    variable: "/version.Version",
    said: &[("starting containerd", " version=")],
};

/// CRI-O.
pub const CRI_O: Product = Product {
    main: "/cmd/crio",
    module: "github.com/cri-o/cri-o",
    variable: "/version.version",
    said: &[("CRI-O", "Starting CRI-O, version: ")],
};

impl Product {
    /// The release, by what the linker wrote; `text` has a program's constants,
    /// and is asked for only where that does not tell.
    pub(super) fn release<'t>(
        &self,
        settings: &str,
        text: impl FnOnce() -> &'t [u8],
    ) -> Option<Version> {
        let is_it = |line: &str| {
            let path = line.strip_prefix("path\t");
            path.is_some_and(|path| path.ends_with(self.main))
        };
        let is_itself = settings.lines().any(is_it);
        self.of_modules(settings).or_else(|| {
            let of_variables = || self.of_variables(settings);
            is_itself.then(|| of_variables().or_else(|| lone(text())))?
        })
    }

    /// The version in a line of its log.
    pub fn said(&self, line: &str) -> Option<Version> {
        self.said.iter().find_map(|(text, before)| {
            let (_, rest) = line.split_once(before).filter(|_| line.contains(text))?;
            let is_end = |c: char| c.is_whitespace() || c == '"' || c == ',';
            version(rest.trim_start_matches('"').split(is_end).next()?)
        })
    }

    /// `mod PATH VERSION SUM` is the program's own module, `dep` another one, and
    /// `=>` what was taken in place of the one before.
    fn of_modules(&self, settings: &str) -> Option<Version> {
        let mut lines = settings.lines().peekable();
        while let Some(line) = lines.next() {
            let mut words = line.split('\t');
            let is_module = matches!(words.next(), Some("mod" | "dep"));
            let path = words.next().unwrap_or_default();
            let own = path.strip_prefix(self.module);
            let is_ours = own.is_some_and(|rest| rest.is_empty() || is_major(rest));
            if !is_module || !is_ours {
                continue;
            }
            let replaced = lines.peek().and_then(|next| next.strip_prefix("=>\t"));
            let replaced = replaced.and_then(|it| it.split('\t').nth(1));
            return replaced
                .and_then(version)
                .or_else(|| version(words.next()?));
        }
        None
    }

    /// `build -ldflags="… -X 'PATH=VALUE' …"`.
    fn of_variables(&self, settings: &str) -> Option<Version> {
        let flags = settings
            .lines()
            .find_map(|line| line.strip_prefix("build\t-ldflags="))?;
        let mut words = flags.split([' ', '\'', '"', '\\']);
        words.find_map(|word| {
            let (name, value) = word.split_once('=')?;
            name.ends_with(self.variable).then(|| version(value))?
        })
    }
}

/// `/v2` behind a module's path.
fn is_major(rest: &str) -> bool {
    let digits = rest.strip_prefix("/v");
    digits.is_some_and(|it| it.parse::<u32>().is_ok())
}

/// A text that is a version: `v1.29.3`, `1.6.20~ds1`, `v1.28.5+k3s1`. What Go
/// makes up for a module without one (`v0.0.0-2024…`) is none.
pub fn version(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    if !rest.is_empty() && !rest.starts_with(['-', '+', '~']) {
        return None;
    }
    let mut numbers = numbers.split('.').map(|it| it.parse::<u32>().ok());
    let mut next = || numbers.next().flatten();
    let found = Version::release(next()?, next()?, next()?);
    (numbers.next().is_none() && found.major > 0).then_some(found)
}

/// Longer ones are no versions.
const MAX_TEXT: usize = 64;

/// The version that stands alone between two zero bytes; `None`: there is
/// none, or there are several.
fn lone(text: &[u8]) -> Option<Version> {
    let mut found = None;
    let mut start = 0;
    for end in memchr_iter(0, text) {
        let string = text.get(start..end).unwrap_or_default();
        start = end + 1;
        // Go's own names `go1.27`, and nothing of other programs has dots so.
        let is_short = (5..=MAX_TEXT).contains(&string.len());
        let string = Some(string).filter(|_| is_short);
        let string = string.and_then(|it| std::str::from_utf8(it).ok());
        let Some(version) = string.and_then(version) else {
            continue;
        };
        if *found.get_or_insert(version) != version {
            return None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(product: &Product, settings: &str, text: &[u8], expected: Option<&str>) {
        let found = product.release(settings, || text).map(|it| it.to_string());
        assert_eq!(found.as_deref(), expected, "{settings}");
    }

    #[test]
    fn modules_tell() {
        let own = "path\tk8s.io/kubernetes/cmd/kubelet\nmod\tk8s.io/kubernetes\tv1.33.1\t\n";
        check(&KUBELET, own, b"", Some("1.33.1"));
        let k3s = "path\tgithub.com/k3s-io/k3s/cmd/server\nmod\tgithub.com/k3s-io/k3s\t(devel)\t\n\
                   dep\tgithub.com/containerd/containerd/v2\tv2.0.4\th1:x\n\
                   =>\tgithub.com/k3s-io/containerd/v2\tv2.0.5-k3s1\th1:y\n\
                   dep\tk8s.io/kubernetes\tv1.32.3\th1:z\n";
        check(&KUBELET, k3s, b"", Some("1.32.3"));
        check(&CONTAINERD, k3s, b"", Some("2.0.5"));
        check(&CRI_O, k3s, b"\x001.2.3\0", None);
        // Other modules have names that begin so, and some have no version.
        let others = "path\tx\ndep\tgithub.com/containerd/containerd/api\tv1.8.0\n\
                      dep\tk8s.io/kubernetes\tv0.0.0-2024\n";
        check(&CONTAINERD, others, b"", None);
        check(&KUBELET, others, b"", None);
    }

    #[test]
    fn variables_tell() {
        let settings = "path\tk8s.io/kubernetes/cmd/kubelet\n\
            build\t-ldflags=\"-s -X 'k8s.io/kubernetes/vendor/k8s.io/component-base/version.gitVersion=v1.20.2' -X 'a.b=1.2.3'\"\n";
        check(&KUBELET, settings, b"", Some("1.20.2"));
        let containerd = "path\tgithub.com/containerd/containerd/cmd/containerd\n\
            build\t-ldflags=\"-X github.com/containerd/containerd/version.Version=v1.7.13 -X x.Package=y\"\n";
        check(&CONTAINERD, containerd, b"", Some("1.7.13"));
        // ctr is built with the same, and kubectl with the kubelet's.
        check(
            &CONTAINERD,
            &containerd.replace("cmd/containerd", "cmd/ctr"),
            b"",
            None,
        );
        check(&KUBELET, &settings.replace("kubelet", "kubectl"), b"", None);
    }

    #[test]
    fn logs_tell() {
        let check = |product: &Product, line: &str, expected: Option<&str>| {
            let found = product.said(line).map(|it| it.to_string());
            assert_eq!(found.as_deref(), expected, "{line}");
        };
        check(
            &CONTAINERD,
            "Nov 23 03:12:01 node containerd[812]: time=\"2026-11-23T03:12:01Z\" level=info \
             msg=\"starting containerd\" revision=\"1.6.20~ds1-1+deb12u3\" version=\"1.6.20~ds1\"",
            Some("1.6.20"),
        );
        check(
            &CONTAINERD,
            "time=x level=info msg=\"starting containerd\" revision=7c3aca7 version=v1.7.13",
            Some("1.7.13"),
        );
        check(
            &KUBELET,
            "I0214 10:00:00.1 812 server.go:467] \"Kubelet version\" kubeletVersion=\"v1.29.2\"",
            Some("1.29.2"),
        );
        check(
            &KUBELET,
            "x kubelet[1]: I0 1 server.go:416] Version: v1.20.2",
            Some("1.20.2"),
        );
        check(
            &CRI_O,
            "msg=\"Starting CRI-O, version: 1.29.1, git: x(clean)\"",
            Some("1.29.1"),
        );
        check(&KUBELET, "kubeadm: kubernetesVersion=\"v1.29.2\"", None);
    }

    /// As in Debian's containerd 1.6.20, which is built with `-trimpath`.
    #[test]
    fn a_text_alone_tells() {
        let settings =
            "path\tgithub.com/containerd/containerd/cmd/containerd\nbuild\t-trimpath=true\n";
        let text =
            b"netns1.6.20+unknown1907\0\0go1.19.8\0\x001.6.20~ds1\0\0\x001.6.20~ds1-1+deb12u3\0\0";
        check(&CONTAINERD, settings, text, Some("1.6.20"));
        check(&CONTAINERD, settings, b"\x001.6.20\0\x001.2.3\0", None);
        check(&CONTAINERD, settings, b"\x001.6.20", None);
        check(
            &CONTAINERD,
            settings,
            b"\x001.6\0v1.6.20x\x00127.0.0.1\0",
            None,
        );
    }
}
