//! The files that `lint` reads, by every rule, in the formats that quote.

use std::io;
use std::sync::Arc;

use kdns::config::yaml::documents;
use kdns::finding::Severity;
use kdns::lint::{Given, Rule, rules};
use kdns::render::lint::{Lint, json, text};
use kdns::text::Source;

use crate::shapes::{Shape, shapes};
use crate::{cost, none, offenders};

const COREFILE: &str = "\
(s) {
    log
}
example.org:53 cluster.local {
    bind 169.254.20.10
    errros
    import s
    kubernetes cluster.local in-addr.arpa {
        pods insecure
    }
    forward . 127.0.0.53 /etc/resolv.conf {
        except example.com
    }
    cache 30
    loop
}
";
const KUBELET: &str = "\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
resolvConf: /etc/resolv.conf
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local # kdns: ignore[KK001]
";
const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  dnsPolicy: None
  dnsConfig:
    nameservers: [10.0.0.1]
    searches:
    - a.example
    options:
    - name: ndots
      value: \"5\"
";
const UNIT: &str = "\
[Service]
Environment=A=--resolv-conf=/run/systemd/resolve/resolv.conf
ExecStart=/usr/bin/kubelet --cluster-dns=10.96.0.10 $A
";
const RESOLV_CONF: &str =
    "search a b\nnameserver 127.0.0.53\nnameserver 10.0.0.1\noptions ndots:5 rotate\n";

/// All that is said about one file, and how much that is.
fn lint(path: &str, bytes: &[u8], rules: &[&'static Rule]) -> usize {
    let source = Arc::new(Source::new(path, bytes));
    let given = Given {
        rules: rules.to_vec(),
        ..Given::default()
    };
    let found = kdns::lint::run(&[source], &given);
    let said = Lint {
        findings: &found.findings,
        suppressed: &found.suppressed,
        notices: Vec::new(),
        files: 1,
        fail_on: Severity::Warning,
        asides: Vec::new(),
    };
    let style = kdns::render::Style {
        colors: false,
        links: false,
        verbose: true,
        columns: 80,
    };
    text::write(&said, style, &mut io::sink()).unwrap();
    json::write(&said, &mut io::sink()).unwrap();
    found.findings.len()
}

fn check(path: &str, seed: &str) {
    let mut shapes = shapes(seed.as_bytes());
    shapes.retain(Shape::is_plain);
    check_shapes(path, &shapes);
}

fn check_shapes(path: &str, shapes: &[Shape]) {
    let rules: Vec<&'static Rule> = rules::all().collect();
    none(&offenders(path, shapes, |text| {
        lint(path, text, &rules);
    }));
}

#[test]
fn corefiles_cost_their_bytes() {
    check("Corefile", COREFILE);
}

#[test]
fn kubelet_files_cost_their_bytes() {
    check("kubelet.yaml", KUBELET);
    check("kubelet.service", UNIT);
}

/// One file can have the settings of thousands of kubelets.
/// JSON is often one line, which is then looked at for no value anew.
#[test]
fn json_in_one_line_costs_its_bytes() {
    let read = |length: usize| {
        let values = "1,".repeat(length / 2);
        let source = Source::new("a.json", format!("{{\"a\":[{values}1]}}"));
        cost(|| assert_eq!(documents(&source).len(), 1))
    };
    let (short, long) = (read(64 << 10), read(1000 << 10));
    assert!(long < short * 40, "{short:?}, {long:?}");
}

#[test]
fn documents_cost_their_bytes() {
    let codes = ["KK022", "KK023"];
    let rules: Vec<&'static Rule> = rules::all().filter(|it| codes.contains(&it.code)).collect();
    assert_eq!(rules.len(), codes.len());
    let text = "---\nkind: KubeletConfiguration\nresolvConf: /etc/x\n";
    let documents = Shape::repeated("documents", text);
    let (short, long) = (documents.of(32 << 10), documents.of(512 << 10));
    let of = |text: &[u8]| {
        cost(|| {
            lint("kubelet.yaml", text, &rules);
        })
    };
    let ratio = || of(&long).as_secs_f64() / of(&short).as_secs_f64();
    let least = (0..2).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    assert!(least < 32.0, "{least:.1} times");
}

#[test]
fn manifests_cost_their_bytes() {
    check("pod.yaml", POD);
}

/// What YAML's scanner looks ahead for, or opens.
const INDICATORS: [&str; 10] = [
    "!", "!a,", "a:,", "&a *a ", "[", "{a: ", "? ", "- ", "\"\\u", "%",
];

#[test]
fn yaml_costs_its_bytes() {
    let before = format!("{POD}x: ");
    let shapes = INDICATORS.map(|it| Shape::behind(&before, it));
    check_shapes("pod.yaml", &shapes);
}

#[test]
fn linting_resolv_conf_costs_its_bytes() {
    check("resolv.conf", RESOLV_CONF);
}

/// A Corefile of one word a line.
fn lines(words: impl Iterator<Item = String>) -> Vec<u8> {
    let lines: Vec<String> = words.collect();
    format!(".:53 {{\n  {}\n}}\n", lines.join("\n  ")).into_bytes()
}

/// A word is compared with the names of all plugins only where it can be one.
#[test]
fn a_word_that_is_no_plugin_costs_little_more_than_one_that_is() {
    let rules: Vec<&'static Rule> = rules::all().filter(|it| it.code == "KC026").collect();
    let count = 20_000;
    let known = lines((0..count).map(|_| "kubernetes".to_owned()));
    let unknown = lines((0..count).map(|it| format!("pppppp{it:05}")));
    let of = |text: &[u8]| {
        cost(|| {
            lint("Corefile", text, &rules);
        })
        .as_secs_f64()
    };
    let ratio = || of(&unknown) / of(&known);
    // Once can be chance.
    let least = (0..3).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    assert!(least < 4.0, "{least:.1} times");
}

/// What is said about one file by one rule has an end.
#[test]
fn a_rule_repeats_itself_boundedly() {
    let rules: Vec<&'static Rule> = rules::all().collect();
    for word in ["forwrad", "import missing", "cache"] {
        let text = lines((0..900).map(|it| word.replace("missing", &format!("missing{it}"))));
        let found = lint("Corefile", &text, &rules);
        assert!(found < 300, "{word}: {found} findings");
    }
    for line in ["nameserver 127.0.0.53\n", "nameserver tls://1.1.1.1\n"] {
        let found = lint("resolv.conf", line.repeat(2000).as_bytes(), &rules);
        assert!(found < 600, "{line}: {found} findings");
    }
}

/// A small Corefile that imports itself large is read as far as that costs what
/// a file of 1 MiB can cost.
#[test]
fn a_snippet_that_is_imported_again_and_again_has_an_end() {
    let snippet = "  forward . 10.0.0.1\n".repeat(1000);
    let imports = "  import s\n".repeat(900);
    let text = format!("(s) {{\n{snippet}}}\n.:53 {{\n{imports}}}\n");
    let source = Source::new("Corefile", text);
    let corefile = kdns::config::corefile::parse(source, &[]);
    let directives: usize = corefile.blocks.iter().map(|it| it.directives.len()).sum();
    assert!(directives < 60_000, "{directives} directives");
    assert!(corefile.stop().is_some());
}
