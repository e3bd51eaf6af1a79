//! Packets as they come, in the network namespace of a target or of the node.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::args::{InputArgs, in_place_of};
use super::counters::{self, Counted};
use super::input::{self, Ended, Event, Feed, Take};
use super::keep::Keep;
use super::subject::Subject;
use crate::cli::streams::Streams;
use crate::cli::{path, question};
use crate::doctor::Route;
use crate::host::clock;
use crate::host::counters::CounterFile;
use crate::host::interrupt::Interrupt;
use crate::host::io_reason;
use crate::host::situation;
use crate::loopback::name_servers;
use crate::netns::askers::{Askers, Asking, own_addresses};
use crate::netns::packets::{self, Packets};
use crate::netns::{self, Namespace};
use crate::packet::{Carried, Content, Frame, LinkType, Options, Transport};

/// A socket that is open; this program has no privilege any more.
#[derive(Debug)]
pub(super) struct Live {
    packets: Packets,
    interrupt: Interrupt,
    until: Option<Instant>,
    counted: Counted,
    before: Carried,
    askers: Option<Askers>,
    ports: Vec<u16>,
}

/// The node, as a target.
const NODE: &str = "1";

/// Room for the packets of a busy node while this program has no processor: a
/// third of a second at 100,000 packets a second, of which each takes about a
/// kilobyte there.
const RECEIVE_BUFFER: usize = 32 << 20;

/// So often those who read along hear that time passes.
const TICK: Duration = Duration::from_millis(250);

/// So many packets are taken before anything else is looked at.
const MOST_AT_ONCE: usize = 4096;

/// After the end of the time so many packets that wait already are still taken.
const MOST_AT_THE_END: usize = 1 << 20;

impl Live {
    /// Enters the target's network, opens what is needed there, and gives up every
    /// privilege.
    pub(super) fn open(
        args: &InputArgs,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<(Self, Subject, Option<Keep>)> {
        let word = args.word.as_deref().or(args.question.target());
        let word = word.or(args.node.then_some(NODE));
        let Some(word) = word else {
            anyhow::bail!(
                "write what to watch: kdns watch NAMESPACE/POD, kdns watch --node, or kdns watch \
                 --read FILE"
            );
        };
        let found =
            expect_privilege().and_then(|()| question::who(Some(word), &args.question, streams));
        let mut question = found.map_err(|error| {
            let links = situation::interfaces().unwrap_or_default();
            match in_place_of(word, &links) {
                Some(hint) => anyhow!("{error:#}; {hint}"),
                None => error,
            }
        })?;
        let interrupt = Interrupt::catch()?;
        let namespace = question.namespace.take();
        let mut subject = Subject::of_question(question);
        subject.is_live = true;
        if args.node {
            // It is of many programs, each with files and a resolver of its own.
            subject.resolver = None;
            subject.scenario = None;
            subject.context.about.truncate(1);
        }
        let Some(namespace) = namespace.transpose()? else {
            anyhow::bail!("there is no network namespace to watch");
        };
        let options = args.options();
        let (descriptor, mut counted, addresses) = open_within(&namespace, &options)?;
        counted.node = CounterFile::of_node(Path::new("/"));
        let before = counted.before();
        let keep = input::begin(args, &subject, before.clone())?;
        if !args.node {
            subject.services = services(word, &subject);
        }
        // Without it nobody is named.
        let askers = Askers::begin(&namespace, addresses, args.question.root()).ok();
        netns::give_up_capabilities(&[])?;
        let live = Self {
            packets: Packets::from_socket(descriptor)?,
            interrupt,
            until: args.how_long.and_then(|it| Instant::now().checked_add(it)),
            counted,
            before,
            askers,
            ports: options.ports,
        };
        Ok((live, subject, keep))
    }

    /// Gives what comes to `feed`.
    pub(super) fn each(mut self, mut feed: Feed, take: Take<'_>) -> anyhow::Result<Ended> {
        let mut number = 0;
        let mut notes = Vec::new();
        let mut next_tick = Instant::now();
        let is_enough = loop {
            let is_over = self.until.is_some_and(|it| Instant::now() >= it);
            if is_over || self.interrupt.has_come() {
                break false;
            }
            self.wait(next_tick)?;
            self.name_askers(&mut feed, take);
            if self.receive(MOST_AT_ONCE, &mut number, &mut feed, &mut notes, take) {
                break true;
            }
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                let now = clock::now().unwrap_or_default();
                if feed.tick(now, self.packets.drops(), take).is_break() {
                    break true;
                }
            }
        };
        if !is_enough {
            self.receive(MOST_AT_THE_END, &mut number, &mut feed, &mut notes, take);
            self.name_askers(&mut feed, take);
        }
        let mut carried = self.before;
        let after = self.counted.after();
        carried.things.extend(after.things.clone());
        let drops = Some(self.packets.drops());
        Ok(Ended {
            counters: feed.end(drops, &after, take),
            drops,
            own: counters::pair(&carried, counters::OWN),
            node: counters::pair(&carried, counters::NODE),
            notes,
        })
    }

    /// Says whose the sockets are that were found.
    fn name_askers(&self, feed: &mut Feed, take: Take<'_>) {
        for asker in self.askers.iter().flat_map(Askers::found) {
            feed.asker(asker, take);
        }
    }

    /// Waits for a packet, Ctrl-C, the next tick or the end of the time.
    fn wait(&self, next_tick: Instant) -> nix::Result<()> {
        let until = self.until.map_or(next_tick, |it| it.min(next_tick));
        let rest = until.saturating_duration_since(Instant::now());
        // Rounded up, so that it is not asked again and again in the last one.
        let rest = rest + Duration::from_millis(1);
        let mut all = [
            PollFd::new(self.packets.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.interrupt.as_fd(), PollFlags::POLLIN),
        ];
        match poll(
            &mut all,
            PollTimeout::try_from(rest).unwrap_or(PollTimeout::ZERO),
        ) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Takes what is there, at most so many; whether there has been enough.
    fn receive(
        &mut self,
        most: usize,
        number: &mut u64,
        feed: &mut Feed,
        notes: &mut Vec<String>,
        take: Take<'_>,
    ) -> bool {
        for _ in 0..most {
            let received = match self.packets.receive() {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    // An interface that went down: others are still there.
                    let note = format!("the packet socket said: {}", io_reason(&error));
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    break;
                }
            };
            *number += 1;
            let frame = Frame {
                is_time_known: true,
                number: *number,
                time: received.time,
                interface: 0,
                outgoing: None,
                link: LinkType::CookedV2,
                bytes: received.bytes,
                original_length: received.length,
            };
            let (askers, ports) = (&mut self.askers, &self.ports);
            let mut ask = |event: Event<'_>| {
                if let (Event::Seen(seen), Some(askers)) = (&event, askers.as_mut())
                    && !ports.contains(&seen.from.port())
                    && matches!(seen.content, Content::Message)
                {
                    askers.ask(Asking {
                        client: seen.from,
                        server: seen.to,
                        is_tcp: seen.transport != Transport::Udp,
                        time: seen.time,
                    });
                }
                take(event)
            };
            if feed.frame(&frame, &mut ask).is_break() {
                return true;
            }
        }
        false
    }
}

/// Opens the socket and the counters in the namespace.
fn open_within(
    namespace: &Namespace,
    options: &Options,
) -> anyhow::Result<(OwnedFd, Counted, Vec<IpAddr>)> {
    let ports = options.ports_on_the_wire();
    let opened = namespace.open_within(|| {
        let descriptor = packets::open(&ports, RECEIVE_BUFFER)?;
        let counted = Counted {
            own: CounterFile::own(),
            node: None,
        };
        Ok::<_, io::Error>((descriptor, counted, own_addresses()))
    })?;
    opened.map_err(|error| {
        let reason = io_reason(&error);
        anyhow::anyhow!(
            "cannot open a packet socket in {}: {reason}",
            namespace.name()
        )
    })
}

/// Where packets to the servers of the target's file go, by the rules as they are
/// now: whoever reads packets has no privilege to read rules.
fn services(word: &str, subject: &Subject) -> Vec<Result<Route, String>> {
    let scenario = subject.scenario.as_ref();
    let conf = scenario.and_then(|it| it.resolv_conf.as_ref());
    let servers = conf.into_iter().flat_map(name_servers).map(|it| it.0);
    let routed = servers
        .filter(|ip| !ip.is_loopback())
        .map_while(|ip| path::route(vec![ip.to_string(), format!("--target={word}")]).ok());
    routed.filter(Route::is_of_service).map(Ok).collect()
}

/// Names a privilege that is missing before anything else goes wrong for its lack.
fn expect_privilege() -> anyhow::Result<()> {
    let has = caps::has_cap(None, CapSet::Effective, Capability::CAP_NET_RAW);
    if has.unwrap_or(false) {
        return Ok(());
    }
    anyhow::bail!(
        "watching needs CAP_NET_RAW, which this program does not have; run it as root on the node, \
         or in a privileged pod (kubectl debug node/NODE --profile=sysadmin)"
    )
}
