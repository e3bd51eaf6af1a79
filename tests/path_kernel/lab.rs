//! Rule sets in the kernel of a node, and packets that meet them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use kdns::path::{Direction, Packet, Start, Step, Tree, evaluate};
use kdns::text::Source;

use crate::ask::{self, Asker, PACKETS};
use crate::dialect::Dialect;
use crate::loader::Loader;
use crate::lots::Lots;
use crate::namespaces::feed;
use crate::network::{self, Server};
use crate::{iptables, judge, listed, nftables, trace};

pub(crate) const VIPS: [&str; 2] = ["10.96.0.10", "10.96.0.11"];
/// The last one is the pod that asks.
pub(crate) const ENDPOINTS: [&str; 4] = ["10.244.1.5", "10.244.2.6", "10.244.3.7", "10.244.0.7"];
pub(crate) const NODE: &str = "172.31.0.10";
pub(crate) const NODE_PORT: u16 = 30053;
pub(crate) const POD: &str = "10.244.0.7";
pub(crate) const PORTS: [u16; 2] = [53, 5353];

pub(crate) const QUESTION: &[u8] = b"a question";

/// A machine that does much else may be late.
const ATTEMPTS: usize = 3;
/// Every so many-th rule set is listed, too.
const LISTED: u64 = 7;

/// Of 80 packets some of so large a share certainly meet a rule.
const SURE: f64 = 0.25;

struct Lab {
    servers: Vec<Server>,
    next_port: u16,
}

/// Runs rule sets, as the first process of namespaces of its own.
#[expect(clippy::print_stderr, reason = "tests say what they skip")]
pub(crate) fn run(loader: Loader, seed: u64, count: u64) -> ExitCode {
    let mut lab = Lab {
        servers: network::make(),
        next_port: 10_000,
    };
    if loader != Loader::Nft {
        for dialect in Dialect::ALL {
            feed(&["ipset", "restore"], &dialect.sets());
        }
    }
    let mut is_good = true;
    for index in 0..count {
        let seed = seed.wrapping_add(index);
        let mut lots = Lots::new(seed);
        let dialect = Dialect::drawn(&mut lots);
        let rules = match loader {
            Loader::Nft => nftables::rules(&mut lots),
            _ => iptables::rules(&mut lots),
        };
        let rules = dialect.put(&rules);
        if let Err(why) = lab.compare(loader, dialect, &rules, (&mut lots, index)) {
            eprintln!(
                "KDNS_SEED={seed} KDNS_SCENARIOS=1 {} {dialect:?}: {why}\n{rules}",
                loader.name()
            );
            is_good = false;
        }
    }
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Lab {
    /// Loads the rules, and holds what becomes of packets against what kdns says.
    fn compare(
        &mut self,
        loader: Loader,
        dialect: Dialect,
        rules: &str,
        (lots, index): (&mut Lots, u64),
    ) -> Result<(), String> {
        loader.load(dialect, rules);
        let rejects = rules.to_ascii_lowercase().contains("reject");
        let host = network::host(&loader.saved(dialect));
        let mut destinations: Vec<SocketAddr> = [VIPS[0], VIPS[1], ENDPOINTS[0]]
            .iter()
            .map(|it| dialect.at(it, 53))
            .collect();
        destinations.push(dialect.at(NODE, NODE_PORT));
        for _ in 0..2 {
            let to = destinations.swap_remove(lots.below(destinations.len()));
            let is_host = lots.one_in(3);
            let packet = packet(dialect, to, is_host);
            let tree = evaluate(&host, &packet);
            if loader != Loader::Nft && index % LISTED == 0 {
                let sets = loader.saved(dialect).pop().unwrap();
                listed::compare((loader, dialect.is_six), &sets, &packet, &tree)?;
            }
            if loader == Loader::Nft {
                listed::compare_text(loader, None, &packet, &tree)?;
            } else if loader == Loader::Iptables && index % LISTED == 0 {
                let sets = loader.saved(dialect).pop().unwrap();
                listed::compare_text(loader, Some(&sets), &packet, &tree)?;
            }
            let mut attempt = 1;
            while let Err(why) = self.compare_one((loader, dialect), &tree, rejects) {
                if attempt == ATTEMPTS {
                    return Err(format!("{why}\n{}", shown(&tree)));
                }
                attempt += 1;
            }
            if loader == Loader::Nft && lots.one_in(2) {
                let askers = [0; 3].map(|_| self.asker(&tree));
                trace::compare(&tree, rules, &self.servers, (askers, dialect))
                    .map_err(|why| format!("{why}\n{}", shown(&tree)))?;
            }
        }
        Ok(())
    }

    fn compare_one(
        &mut self,
        (loader, dialect): (Loader, Dialect),
        tree: &Tree,
        rejects: bool,
    ) -> Result<(), String> {
        let before = counters(&loader.saved(dialect));
        let asker = self.asker(tree);
        let to = SocketAddr::new(tree.packet.destination, tree.packet.port);
        let observed = if dialect.is_tcp {
            ask::tcp(&self.servers, asker, to)
        } else {
            ask::udp(&self.servers, asker, to)
        };
        judge::judge(tree, &observed, (asker.is_host, rejects))
            .and_then(|()| risen(tree, &before, &counters(&loader.saved(dialect))))
            .map_err(|why| format!("{why}\nobserved {observed:?}"))
    }

    fn asker(&mut self, tree: &Tree) -> Asker {
        let first_port = self.next_port;
        self.next_port = if first_port > 60_000 {
            10_000
        } else {
            first_port + PACKETS
        };
        Asker {
            source: tree.packet.source,
            first_port,
            is_host: tree.packet.start == Start::Host,
        }
    }
}

fn packet(dialect: Dialect, to: SocketAddr, is_host: bool) -> Packet {
    let source = dialect.ip(if is_host { NODE } else { POD });
    let start = if is_host {
        Start::Host
    } else {
        Start::Link {
            name: Some("cali7".into()),
        }
    };
    Packet {
        protocol: dialect.protocol(),
        source,
        source_port: None,
        destination: to.ip(),
        port: to.port(),
        start,
        length: Some(dialect.length(QUESTION.len())),
    }
}

/// How many packets each rule has met, by its text and line.
type Counters = BTreeMap<(String, usize), u64>;

fn counters(texts: &[Source]) -> Counters {
    let mut counters = Counters::new();
    for text in texts {
        let lines = String::from_utf8_lossy(&text.bytes).into_owned();
        for (index, line) in lines.lines().enumerate() {
            let packets = line.strip_prefix('[').and_then(|it| it.split_once(':'));
            if let Some(packets) = packets.and_then(|it| it.0.parse().ok()) {
                counters.insert((text.name.clone(), index + 1), packets);
            }
        }
    }
    counters
}

/// Whether every rule that kdns names has met packets.
fn risen(tree: &Tree, before: &Counters, after: &Counters) -> Result<(), String> {
    let sure = tree.outcomes.iter().filter(|it| it.share.as_f64() >= SURE);
    let steps = sure.flat_map(|it| &it.steps);
    for step in steps.filter(|it| it.direction == Direction::Request) {
        let at = (step.place.file.clone(), step.place.line);
        if let (Some(old), Some(new)) = (before.get(&at), after.get(&at))
            && new <= old
        {
            return Err(format!("no packet has met {}", step.rule()));
        }
    }
    Ok(())
}

/// What was predicted.
fn shown(tree: &Tree) -> String {
    let packet = &tree.packet;
    let mut text = format!(
        "from {} to {}:{}, predicted {:?}:\n",
        packet.source, packet.destination, packet.port, tree.verdict
    );
    let step = |it: &Step| format!("    {} {} {}", it.stage, it.chain, it.rule());
    for it in &tree.outcomes {
        let steps: Vec<String> = it.steps.iter().map(step).collect();
        writeln!(
            text,
            "  {} {:?} {}:{} masqueraded {} {:?} {:?} if {:?}\n{}",
            it.share,
            it.kind,
            it.address,
            it.port,
            it.masqueraded,
            it.error,
            it.reply,
            it.depends_on,
            steps.join("\n")
        )
        .unwrap();
    }
    text
}
