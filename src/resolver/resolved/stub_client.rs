//! glibc behind the stub listener: both in one virtual time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::engine::io::{Arrival, Came, Io, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::resolver::glibc;
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::resolver::resolved::Version;
use crate::resolver::resolved::dns_stub::{StubPacket, StubReply};
use crate::resolver::resolved::event::Event;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::read::{Settings, stub_resolv_conf};
use crate::scenario::{Lookup, Scenario};

/// How late `poll(2)` returns to the client when its time is over. Resolved
/// began to wait before the client did, so its timers are due by then.
const POLL_DELAY: Duration = Duration::from_millis(1);

/// The kernel can take the processor from the client between the two packets of its sendmmsg(2), for
/// as long as it likes. Ours.
const PREEMPTED: u32 = 1 << 16;

/// Timers this close to each other run out together. Ours.
const TOGETHER: Duration = Duration::from_millis(100);
const CUT: &str = "before systemd 247 programs see six domains, together of 256 bytes, at most";
/// What is left to chance, in sentences.
const CLIENT_LATER: &str = "time-outs of systemd-resolved and of its client that are over together are served in either order";

/// Lets glibc ask the stub until it has an answer.
///
/// `seen` is the scenario as glibc sees it, `conf` what it has read there.
pub(super) async fn lookup(
    io: Rc<Io>,
    seen: &Scenario,
    conf: &Rc<Reading<'static>>,
    mut manager: Manager<'_>,
) -> Outcome {
    let call = match seen.lookup {
        Lookup::Addresses(_) => glibc::Call::GetAddrInfo,
        Lookup::Records(_) => glibc::Call::ResSearch,
    };
    let conf = Rc::clone(conf);
    let mut client = Machine::new(|io| glibc::lookup_with(io, seen, conf, &glibc::V2_36, call));
    let mut requests = Vec::new();
    loop {
        let step = client.step(io.now());
        for note in client.notes() {
            io.note(note);
        }
        let until = match step {
            Step::Done(outcome) => return outcome,
            Step::Waiting(until) => until,
        };
        client.take_requests(&mut requests);
        if carry_out(&mut requests, &client, &mut manager) {
            continue;
        }
        let waits = || until.is_none_or(|it| io.now() < it);
        let mut is_late = false;
        // What does not concern the client does not wake it.
        while manager.stub_replies.is_empty() && waits() && !is_late {
            let until = until.map(|it| it + POLL_DELAY);
            is_late = wait(&io, &mut manager, until).await;
        }
        // poll(2) tells of an answer that came before the client runs again.
        if (waits() || is_late)
            && let Some(reply) = manager.stub_replies.pop_front()
        {
            client.arrived(arrival(reply));
        }
    }
}

/// The servers and domains of resolved, the rest as glibc has it.
pub(super) fn reading(settings: &Settings, client: &Reading<'_>) -> Reading<'static> {
    let client = client.clone();
    let mut reading = settings.reading.clone();
    let domains = std::mem::take(&mut reading.search);
    let entries = client.search.into_iter().enumerate();
    reading.search = entries
        .map(|(index, entry)| match (entry.origin, domains.get(index)) {
            (Origin::File(_), Some(domain)) => domain.clone(),
            _ => of_client(entry.origin, Cow::Owned(entry.value.into_owned())),
        })
        .collect();
    let is_seen = |it: &&Setting<_>| matches!(it.origin, Origin::File(_));
    let seen = reading.search.iter().filter(is_seen).count();
    for domain in domains.iter().skip(seen) {
        if let (Origin::File(span), 1..) = (domain.origin, seen) {
            reading.drop(span, CUT);
        }
    }
    reading.dropped.sort();
    reading.ndots = client.ndots.map(|it| of_client(it.origin, it.value));
    reading.timeout = of_client(client.timeout.origin, client.timeout.value);
    reading.attempts = of_client(client.attempts.origin, client.attempts.value);
    let flags = client.flags.into_iter();
    reading.flags = flags.map(|it| of_client(it.origin, it.value)).collect();
    reading
}

/// What the client reads in the scenario as it sees it.
pub(super) fn reading_of_client(seen: &Scenario) -> Reading<'_> {
    glibc::reading(seen, &glibc::V2_36)
}

/// A setting of the client. What comes from the file that it sees is resolved's own.
fn of_client<T>(origin: Origin, value: T) -> Setting<T> {
    match origin {
        Origin::File(_) => Setting::built_in(value),
        origin => Setting::new(value, origin),
    }
}

/// The scenario as glibc behind the stub sees it.
pub(super) fn seen_by_client(
    scenario: &Scenario,
    settings: &Settings,
    version: Version,
) -> Scenario {
    Scenario {
        resolv_conf: Some(stub_resolv_conf(settings, version)),
        nss_modules: BTreeMap::new(),
        ..scenario.without_answers()
    }
}

/// Connects the client's sockets to the stub and takes its queries; whether a
/// socket was connected.
fn carry_out(requests: &mut Vec<Request>, client: &Machine<'_>, manager: &mut Manager<'_>) -> bool {
    let mut connected = false;
    for request in requests.drain(..) {
        match request {
            Request::Connect(socket, ..) => {
                client.connected(socket, Ok(()));
                connected = true;
            }
            Request::Send(id, query) => {
                let packet = StubPacket { id, query };
                manager.arriving.push(Event::Stub(packet), PREEMPTED);
            }
            Request::Write(..) | Request::Close(_) => {}
        }
    }
    connected
}

fn arrival(reply: StubReply) -> Arrival {
    Arrival {
        query: reply.packet.id,
        socket: reply.packet.query.socket,
        server: reply.packet.query.server,
        what: Came::Reply(reply.reply),
        wrong: None,
    }
}

/// Waits for a server, for resolved's timers, or until the client's patience ends. Where
/// resolved's timers run out at about that time, too, it is left to chance which come first, and whether the client
/// runs only when the answer to what resolved then asks is there: then it says so.
async fn wait(io: &Io, manager: &mut Manager<'_>, client_until: Option<Duration>) -> bool {
    let wake_at = manager.wake_at();
    let is_before = |client: &Duration| wake_at.is_none_or(|wake_at| *client < wake_at);
    let mut until = client_until.filter(is_before).or(wake_at);
    let mut event = manager.next_event(until).await;
    let mut sleeps_until = None;
    if let (None, Some(client), Some(wake_at)) = (&event, client_until, wake_at)
        && client < wake_at
        && wake_at < client + TOGETHER
    {
        let lot = io.choose(3, CLIENT_LATER);
        if lot > 0 {
            until = Some(wake_at);
            event = manager.next_event(until).await;
        }
        sleeps_until = (lot == 2).then(|| client + TOGETHER);
    }
    if event.is_some() || wake_at.is_some() && until == wake_at {
        manager.run(event).await;
    }
    while sleeps_until.is_some() && manager.stub_replies.is_empty() {
        let Some(event) = manager.next_event(sleeps_until).await else {
            break;
        };
        manager.run(Some(event)).await;
    }
    sleeps_until.is_some()
}
