//! What fuzzing begins with: the files of `testdata`, put into the form that
//! each target reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use etherparse::PacketBuilder;
use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::rdata::{A, CNAME, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use kdns::packet::{Carried, Frame, LinkType, Writer};

/// Longer files are no seeds: what is short is changed to more effect.
const MAX_BYTES: usize = 4096;
/// So many of a kind.
const MAX_SEEDS: usize = 400;

/// The seeds of a target, each once, always in the same order.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    let seeds: Vec<Vec<u8>> = match target {
        "corefile" => joined(&[&["Corefile", ".Corefile", ".corefile"], &["drop-in.conf"]]),
        "dig_words" => dig_words(),
        "dns_servers" => dns_servers(),
        "engine" => engine(),
        "kubelet_settings" => joined(&[
            &[".service"],
            &["drop-in.conf", "10-kubeadm.conf"],
            &["kubeadm-flags.env", "/kubelet", "/env"],
            &["cmdline", "/kubelet"],
        ]),
        "joining" => joining(),
        "lint" => lint(),
        "messages" => messages(),
        "node_state" => node_state(),
        "packets" => packets(),
        "resolver_files" => joined(&[
            &["resolv.conf"],
            &["/hosts"],
            &["nsswitch.conf"],
            &["aliases"],
        ]),
        "rules" => joined(&[
            &[
                "rules.txt",
                "rules.json",
                "iptables.txt",
                ".nft",
                "ticket.md",
            ],
            &["ipset.txt", "sets.txt", "ipvs.txt", "ipvsadm.txt", "ip_vs"],
        ]),
        "scenario" => lines(&["vectors/regressions", "vectors/visible.jsonl"]),
        "yaml" => files(&[".yaml", "app.json", "kubeletconfig.json"]),
        _ => Vec::new(),
    };
    let seeds: BTreeSet<Vec<u8>> = seeds.into_iter().collect();
    let step = seeds.len().div_ceil(MAX_SEEDS).max(1);
    let short = seeds.into_iter().step_by(step);
    short.collect()
}

/// Every short file of `testdata`, by its path.
fn testdata() -> &'static BTreeMap<String, Vec<u8>> {
    static FILES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = BTreeMap::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
        collect(&root, &mut files);
        files
    })
}

fn collect(directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let path = entry.path();
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() && entry.metadata().unwrap().len() <= 1 << 20 {
            files.insert(path.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

/// The short files whose paths end so, each text once.
fn files(endings: &[&str]) -> Vec<Vec<u8>> {
    let fits = |path: &&String| endings.iter().any(|it| path.ends_with(it));
    let found = testdata().iter().filter(|(path, _)| fits(path));
    let found: BTreeSet<&Vec<u8>> = found.map(|it| it.1).collect();
    let short = found.into_iter().filter(|it| it.len() <= MAX_BYTES);
    short.cloned().collect()
}

/// The lines of the files whose paths contain this.
fn lines(parts: &[&str]) -> Vec<Vec<u8>> {
    let fits = |path: &&String| parts.iter().any(|it| path.contains(it));
    let found = testdata().iter().filter(|(path, _)| fits(path));
    let lines = found.flat_map(|(_, text)| text.split(|&byte| byte == b'\n'));
    lines.map(<[u8]>::to_vec).collect()
}

/// Texts of several kinds behind one another: the first kind whole, of the
/// others whatever comes next.
fn joined(kinds: &[&[&str]]) -> Vec<Vec<u8>> {
    let kinds: Vec<Vec<Vec<u8>>> = kinds.iter().map(|it| files(it)).collect();
    let longest = kinds.iter().map(Vec::len).max().unwrap_or(0);
    let one = |index: usize| {
        let texts = kinds.iter().filter(|it| !it.is_empty());
        let texts: Vec<&[u8]> = texts.map(|it| &*it[index % it.len()]).collect();
        texts.join(&[crate::targets::SEPARATOR][..])
    };
    (0..longest).map(one).collect()
}

/// Files with the word before them that says what they are.
fn named(kind: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let head = format!("{kind}\n").into_bytes();
    let found = files(endings);
    let step = found.len().div_ceil(60).max(1);
    let found = found.iter().step_by(step);
    found.map(|it| [&head[..], it].concat()).collect()
}

fn dns_servers() -> Vec<Vec<u8>> {
    let varlink = br#"varlink
{"parameters":{"configuration":[{"servers":[{"address":[192,0,2,1],"port":53,"name":"a"}],
"searchDomains":[{"name":"corp.example","routeOnly":true}],"dnsOverTLS":"yes"},{"ifindex":3,
"delegate":"d","defaultRoute":true,"fallbackServers":[{"address":[1,1,1,1]}]}]}}"#;
    let mut seeds = [
        named(
            "dnsmasq",
            &["dnsmasq.conf", "127.0.0.1.conf", "127.0.0.2.conf"],
        ),
        named("unbound", &["unbound.127.0.0.1.conf", "unbound.conf"]),
        named("named", &["named.conf", "127.0.0.1.conf"]),
        named(
            "resolved",
            &["resolved.conf", "klab.conf", "NetworkManager.conf"],
        ),
        named("resolved", &["systemd/resolve/netif/2", "netif/3"]),
    ]
    .concat();
    seeds.extend([
        varlink.to_vec(),
        b"named\noptions { forwarders { 192.0.2.1 port 54; }; listen-on { any; }; };\n".to_vec(),
        b"nginx\nhttp { resolver [::1]:54 a.b valid=1s; server { set $a b; proxy_pass http://$a; } }\n".to_vec(),
        b"haproxy\nresolvers a\n nameserver b udp@[::1]:53\n parse-resolv-conf\n timeout retry 1s\n\
            backend c\n server d e:1 resolvers a\n".to_vec(),
        b"unbound\nserver:\n  interface: 127.0.0.1@54\nforward-zone:\n  name: .\n".to_vec(),
    ]);
    seeds
}

fn node_state() -> Vec<Vec<u8>> {
    let go = b"go\n\xff Go buildinf:\x08\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
        \x08go1.22.3\x30path\tx\nbuild\t-tags=netgo,a\nbuild\tCGO_ENABLED=0\nabc";
    let mut seeds = [
        named("log", &[".log"]),
        named("oci", &["config.json"]),
        named("docker", &["config.v2.json", "daemon.json"]),
        named("containerd", &["config.toml"]),
        named("mountinfo", &["mountinfo"]),
        named("cgroup", &["cgroup"]),
        named("stat", &["/stat"]),
        named(
            "kernel",
            &["nf_conntrack", "ip_vs", "ip_vs_conn", "net/dev"],
        ),
        named("addresses", &["fib_trie", "route", "if_inet6"]),
        named("process", &["cmdline", "maps", "environ"]),
    ]
    .concat();
    seeds.push(go.to_vec());
    let programs = testdata().iter().filter(|(path, _)| path.contains("/elf/"));
    let programs = programs.map(|(_, bytes)| &bytes[..bytes.len().min(MAX_BYTES)]);
    seeds.extend(programs.map(|it| [b"elf\n", it].concat()));
    seeds
}

/// Files of every kind that rules look at, under their names; some together.
fn lint() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut folder = (String::new(), Vec::new());
    for (path, bytes) in testdata() {
        let Some((_, path)) = path.split_once("/testdata/lint/") else {
            continue;
        };
        let mut parts = path.splitn(3, '/');
        let (code, case, rest) = (parts.next(), parts.next(), parts.next());
        let (Some(code), Some(case), Some(rest)) = (code, case, rest) else {
            continue;
        };
        if rest == "args" || bytes.len() > MAX_BYTES {
            continue;
        }
        let input = [rest.as_bytes(), b"\n", bytes].concat();
        let of = format!("{code}/{case}");
        if folder.0 != of {
            seeds.push(std::mem::take(&mut folder.1));
            folder.0 = of;
        } else if folder.1.len() + input.len() < MAX_BYTES {
            folder.1.push(crate::targets::SEPARATOR);
        }
        if folder.1.len() + input.len() < MAX_BYTES {
            folder.1.extend(input);
        }
    }
    seeds.push(folder.1);
    seeds.extend(pages());
    seeds
}

/// The bad examples of the rules' pages.
fn pages() -> Vec<Vec<u8>> {
    let page = |rule: &kdns::lint::Rule| {
        let mut examples = Vec::new();
        for fence in rule.page().split("\n```").skip(1) {
            let Some((head, text)) = fence.split_once('\n') else {
                continue;
            };
            let mut words = head.split_whitespace().skip(1);
            if let (Some("bad" | "bad+" | "good"), Some(path)) = (words.next(), words.next()) {
                examples.push(format!("{path}\n{text}\n").into_bytes());
            }
        }
        examples
    };
    kdns::lint::rules::all().flat_map(page).collect()
}

fn dig_words() -> Vec<Vec<u8>> {
    let lines = lines(&["dig/commands.txt"]);
    let words = |line: &Vec<u8>| {
        let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        words.join(&b'\n')
    };
    let digrc = b"\x1e+noall +answer\x1ea.test MX\n\x1e@192.0.2.1 b.test +subnet=10.0.0.0/8";
    let words = lines.iter().map(words);
    words.map(|it| [&it[..], digrc].concat()).collect()
}

/// Numbers before the files of each resolver's question.
fn engine() -> Vec<Vec<u8>> {
    let texts = joined(&[&["resolv.conf"], &["/hosts"], &["nsswitch.conf"]]);
    let texts = texts.iter().enumerate();
    let one = |(index, text): (usize, &Vec<u8>)| {
        let index = u8::try_from(index % 256).unwrap();
        let names: [&[u8]; 4] = [b"web.prod", b"db.example.com.", b"localhost", b"a"];
        let name = names[usize::from(index) % 4];
        let rules = usize::from(index) % 4;
        let rule = [index, index.wrapping_mul(7), 0, 0, 0, 0];
        let head = [index, index / 3, 0, index % 4];
        let parts = [
            &head[..],
            &rule.repeat(rules),
            &[2 + 8],
            name,
            b"\x1e",
            text,
        ];
        parts.concat()
    };
    texts.map(one).collect()
}

fn messages() -> Vec<Vec<u8>> {
    let name = |text: &str| Name::from_ascii(text).unwrap();
    let mut seeds = Vec::new();
    for form in [0, 1, 2, 4, 16, 64, 128] {
        let mut message = Message::new(0x1234, MessageType::Response, OpCode::Query);
        message.add_query(Query::query(name("web."), RecordType::A));
        seeds.push([&[form][..], &message.to_vec().unwrap()].concat());
        let data = [
            RData::CNAME(CNAME(name("x.example."))),
            RData::A(A::new(192, 0, 2, 1)),
            RData::TXT(TXT::new(vec!["a b\"\u{1b}".to_owned()])),
        ];
        for data in data {
            message.add_answer(Record::from_rdata(name("web."), 60, data));
        }
        let bytes = message.to_vec().unwrap();
        seeds.push([&[form][..], &bytes, b"\x1e\x1e", &bytes].concat());
    }
    // One record of each type, its data whatever it is.
    for rdtype in (0..=65).chain([99, 249, 250, 256, 257, 32769]) {
        let rdtype: [u8; 2] = u16::to_be_bytes(rdtype);
        let data = [
            1, 2, 3, 1, b'a', 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, b'b', 0, 1, 2,
        ];
        let header = [0, 7, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
        let question = [1, b'a', 0, rdtype[0], rdtype[1], 0, 1];
        let record = [0xc0, 12, rdtype[0], rdtype[1], 0, 1, 0, 0, 0, 9, 0, 23];
        seeds.push([&[2][..], &header, &question, &record, &data].concat());
    }
    seeds
}

/// Lookups of one or two candidates, answered, denied, lost and refused.
fn joining() -> Vec<Vec<u8>> {
    let question = |name: &[u8], kind: u8| [name, &[0, 0, kind, 0, 1]].concat();
    let message = |flags: [u8; 2], name: &[u8], kind: u8| {
        let head = [0, kind, flags[0], flags[1], 0, 1, 0, 0, 0, 0, 0, 0];
        [&head, question(name, kind).as_slice()].concat()
    };
    let names = [&b"\x01x\x01a\x04test"[..], b"\x01x\x01b\x04test", b"\x01x"];
    let mut seeds = Vec::new();
    for form in 0..4 {
        for (last, reply) in [(10, 0x80), (10, 0x82), (10, 0x83), (7, 0x80), (0, 0x80)] {
            let mut parts = Vec::new();
            for name in names {
                for kind in [1, 28] {
                    let asked = message([1, 0], name, kind);
                    parts.push([&[1, 0, 0, 10][..], &asked].concat());
                    let back = message([0x81, reply], name, kind);
                    parts.push([&[12, 0, 0, last + 1][..], &back].concat());
                }
            }
            seeds.push([&[form][..], &parts.join(&0x1e)].concat());
        }
    }
    seeds
}

/// Single packets, some of them with fragments or a connection, and captures of
/// them.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
fn packets() -> Vec<Vec<u8>> {
    let mut message = Message::new(0x1234, MessageType::Query, OpCode::Query);
    message.add_query(Query::query(
        Name::from_ascii("web.").unwrap(),
        RecordType::A,
    ));
    let message = message.to_vec().unwrap();
    let length = u16::try_from(message.len()).unwrap().to_be_bytes();
    let prefixed = [&length, message.as_slice()].concat();
    let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 53]);
    let ip = || PacketBuilder::ipv4(client, server, 64);
    let mut all = vec![Vec::new(); 6];
    ip().udp(4000, 53).write(&mut all[0], &message).unwrap();
    ip().tcp(4000, 53, 9, 1)
        .syn()
        .write(&mut all[1], &[])
        .unwrap();
    let (begin, rest) = prefixed.split_at(9);
    ip().tcp(4000, 53, 10, 1).write(&mut all[2], begin).unwrap();
    ip().tcp(4000, 53, 19, 1)
        .fin()
        .write(&mut all[3], rest)
        .unwrap();
    let quoted = all[0].clone();
    let unreachable = ip().icmpv4_raw(3, 3, [0; 4]);
    unreachable.write(&mut all[4], &quoted).unwrap();
    let inner = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[2; 12], &[8, 0], &quoted].concat();
    ip().udp(4000, 4789).write(&mut all[5], &inner).unwrap();
    // The datagram in two fragments.
    let mut parts = [
        quoted[..36].to_vec(),
        [&quoted[..20], &quoted[36..]].concat(),
    ];
    parts[0][6] = 0x20;
    parts[1][7] = 2;
    for part in &mut parts {
        let length = u16::try_from(part.len()).unwrap();
        part[2..4].copy_from_slice(&length.to_be_bytes());
    }
    all.extend(parts);
    let mut carried = Carried::default();
    carried.put("resolv.conf", "nameserver 10.96.0.10\n");
    let mut seeds = Vec::new();
    for form in 0..3 {
        seeds.push([&[form][..], &all.join(&0x1e)].concat());
        seeds.extend(all.iter().map(|it| [&[form][..], it].concat()));
        let comments = carried.comments();
        let mut writer = Writer::begin(Vec::new(), "kdns", &comments).unwrap();
        for (number, bytes) in (1..).zip(&all) {
            let frame = Frame {
                is_time_known: true,
                number,
                time: 1_700_000_000_000_000_000,
                interface: u32::from(form),
                outgoing: Some(form == 1),
                link: LinkType::Raw,
                bytes,
                original_length: 200,
            };
            writer.frame(&frame).unwrap();
        }
        let bytes = writer.end(Some(1), &comments).unwrap();
        seeds.push([&[form][..], &bytes].concat());
    }
    seeds
}
