//! glibc behind the stub listener: both in one virtual time.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use crate::engine::io::{Arrival, Came, Io, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::resolver::glibc;
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::resolver::resolved::dns_stub::{StubPacket, StubReply};
use crate::resolver::resolved::manager::{Event, Manager, SOON};
use crate::resolver::resolved::read::{Configuration, resolved_conf, stub_resolv_conf};
use crate::scenario::{Lookup, Scenario};

/// How late `poll(2)` returns to the client when its time is over. Resolved
/// began to wait before the client did, so its timers are due by then.
const POLL_DELAY: Duration = Duration::from_millis(1);

/// Timers this close to each other run out together. Ours.
const TOGETHER: Duration = Duration::from_millis(100);
/// What is left to chance, in sentences.
const CLIENT_LATER: &str = "time-outs of systemd-resolved and of its client that are over together are served in either order";
const ANSWERED_FIRST: &str = "AAAA is not asked if A's answer comes before systemd-resolved reads the client's second query: NXDOMAIN is then in the cache";

/// Lets glibc ask the stub until it has an answer.
pub(super) async fn lookup(io: Rc<Io>, scenario: &Scenario) -> Outcome {
    let configuration = resolved_conf(scenario);
    let seen = seen_by_client(scenario, &configuration);
    let call = match scenario.lookup {
        Lookup::Addresses(_) => glibc::Call::GetAddrInfo,
        Lookup::Records(_) => glibc::Call::ResSearch,
    };
    let mut client = Machine::new(|io| glibc::lookup(io, &seen, call));
    let mut manager = Manager::new(Rc::clone(&io), configuration);
    manager.client_waits = true;
    let mut packets = VecDeque::new();
    let mut patience = None;
    loop {
        let step = client.step(io.now());
        for note in client.notes() {
            io.note(note);
        }
        let until = match step {
            Step::Done(outcome) => return outcome,
            Step::Waiting(until) => until,
        };
        if carry_out(&client, &mut packets) {
            continue;
        }
        if let Some(reply) = manager.stub_replies.pop_front() {
            client.arrived(arrival(reply));
        } else if let Some(packet) = packets.pop_front() {
            while manager.waiting() > 0
                && io.choose(2, ANSWERED_FIRST) == 1
                && let Some(arrival) = manager.receive(Some(io.now() + SOON)).await
            {
                manager.run(Some(Event::Arrival(arrival))).await;
            }
            manager.run(Some(Event::Stub(packet))).await;
        } else {
            let until = until.map(|until| client_until(&io, &manager, until, &mut patience));
            wait(&io, &mut manager, until).await;
        }
    }
}

/// The servers and domains of resolved, the rest as glibc has it.
pub(super) fn reading(scenario: &Scenario) -> Reading<'_> {
    let configuration = resolved_conf(scenario);
    let seen = seen_by_client(scenario, &configuration);
    let client = glibc::reading(&seen);
    let mut reading = configuration.reading;
    let domains = std::mem::take(&mut reading.search);
    let entries = client.search.into_iter().enumerate();
    reading.search = entries
        .map(|(index, entry)| match (entry.origin, domains.get(index)) {
            (Origin::File(_), Some(domain)) => domain.clone(),
            _ => of_client(entry.origin, Cow::Owned(entry.value.into_owned())),
        })
        .collect();
    reading.ndots = client.ndots.map(|it| of_client(it.origin, it.value));
    reading.timeout = of_client(client.timeout.origin, client.timeout.value);
    reading.attempts = of_client(client.attempts.origin, client.attempts.value);
    let flags = client.flags.into_iter();
    reading.flags = flags.map(|it| of_client(it.origin, it.value)).collect();
    reading
}

/// A setting of the client. What comes from the file that it sees is resolved's own.
fn of_client<T>(origin: Origin, value: T) -> Setting<T> {
    match origin {
        Origin::File(_) => Setting::built_in(value),
        origin => Setting { value, origin },
    }
}

/// The scenario as glibc behind the stub sees it.
fn seen_by_client(scenario: &Scenario, configuration: &Configuration<'_>) -> Scenario {
    Scenario {
        resolv_conf: Some(stub_resolv_conf(configuration)),
        ..scenario.without_answers()
    }
}

/// Connects the client's sockets to the stub and takes its queries; whether a
/// socket was connected.
fn carry_out(client: &Machine<'_>, packets: &mut VecDeque<StubPacket>) -> bool {
    let mut connected = false;
    for request in client.requests() {
        match request {
            Request::Connect(socket, ..) => {
                client.connected(socket, Ok(()));
                connected = true;
            }
            Request::Send(id, query) => packets.push_back(StubPacket { id, query }),
            Request::Close(_) => {}
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
    }
}

/// When the client's `poll(2)` returns: at about the time of resolved's timers it
/// is left to chance, once, whether that is before them or after.
fn client_until(
    io: &Io,
    manager: &Manager,
    until: Duration,
    patience: &mut Option<(Duration, Duration)>,
) -> Duration {
    let together = |wake_at: Duration| wake_at.abs_diff(until) < TOGETHER;
    match *patience {
        Some((of, late)) if of == until => late,
        _ if manager.wake_at().is_some_and(together) => {
            let late = [POLL_DELAY, TOGETHER];
            let late = late.get(io.choose(2, CLIENT_LATER)).copied();
            let late = until + late.unwrap_or(POLL_DELAY);
            *patience = Some((until, late));
            late
        }
        _ => until + POLL_DELAY,
    }
}

/// Waits for a server, for resolved's timers, or until the client's patience ends.
async fn wait(io: &Io, manager: &mut Manager, client_until: Option<Duration>) {
    let wake_at = manager.wake_at();
    let until = match (client_until, wake_at) {
        (Some(client), Some(wake_at)) => Some(client.min(wake_at)),
        (client, wake_at) => client.or(wake_at),
    };
    match manager.receive(until).await {
        Some(arrival) => manager.run(Some(Event::Arrival(arrival))).await,
        None if wake_at.is_some_and(|wake_at| wake_at <= io.now()) => manager.run(None).await,
        None => {}
    }
}
