//! Go's DNS client: candidates, servers, exchanges.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::message::{Because, Rcode, Record, Reply};
use crate::resolver::go::Version;
use crate::resolver::go::name::{MAX_NAME_BYTES, avoid_dns, is_domain_name, pack};
use crate::resolver::go::read::{Config, ROTATE, SINGLE_REQUEST};
use crate::scenario::{Family, Scenario};

/// The last part of the text of an error.
pub(super) type Failure = &'static str;

/// Source: Go `src/net/net.go: errNoSuchHost`.
pub(super) const NO_SUCH_HOST: Failure = "no such host";
/// Source: Go `src/net/dnsclient_unix.go`, as the next three.
const LAME_REFERRAL: Failure = "lame referral";
const CANNOT_UNMARSHAL: Failure = "cannot unmarshal DNS message";
const CANNOT_MARSHAL: Failure = "cannot marshal DNS message";
const SERVER_MISBEHAVING: Failure = "server misbehaving";

/// What is left to chance, in sentences.
const AT_ONCE: &str = "A and AAAA are sent in either order: Go asks from two goroutines";
const ROTATED: &str =
    "`rotate`: A and AAAA take the next two servers in either order, as Go's two goroutines start";
const ENDS_FIRST: &str =
    "where A and AAAA fail in two ways at once, either error is the one that Go returns";
/// Goroutines that end this close to each other end in any order. Ours.
const AT_ONE_TIME: Duration = Duration::from_millis(1);

/// A name to ask for: the rooted text, and where it comes from.
type Candidate = (Vec<u8>, Because);

/// Addresses, and the error that counts if there are none.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) addresses: Vec<Address>,
    pub(super) error: Option<Failure>,
}

/// Source: Go `src/net/lookup.go: Resolver`, with its configuration.
#[derive(Debug)]
pub(super) struct Client<'a> {
    pub(super) io: Rc<Io>,
    pub(super) scenario: &'a Scenario,
    pub(super) config: Config<'a>,
    pub(super) version: &'static Version,
    /// Source: Go `src/net/dnsconfig.go: dnsConfig.soffset`.
    server_offset: Cell<usize>,
    /// When a goroutine was last woken, in steps of [`super::exchange`].
    pub(super) woken: Cell<u64>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        io: Rc<Io>,
        scenario: &'a Scenario,
        config: Config<'a>,
        version: &'static Version,
    ) -> Self {
        Self {
            io,
            scenario,
            config,
            version,
            server_offset: Cell::new(0),
            woken: Cell::new(u64::MAX),
        }
    }

    /// A lookup of another type than addresses, one question a candidate. Its
    /// error is the one of the last candidate.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.lookup`.
    pub(super) async fn lookup(
        &self,
        name: &[u8],
        record_type: RecordType,
    ) -> Result<Vec<Address>, Failure> {
        if !is_domain_name(name) || name == b"." && self.version.root_is_no_name {
            return Err(NO_SUCH_HOST);
        }
        // Without a candidate the caller is left with an empty message.
        let mut error = CANNOT_UNMARSHAL;
        for candidate in self.name_list(name) {
            let offset = self.server_offset();
            match self.try_one_name(&candidate, record_type, offset).await {
                Ok(reply) => return Ok(addresses(&reply).collect()),
                Err(failure) => error = failure,
            }
        }
        Err(error)
    }

    /// The loop over candidates, each asked for the types of `family`. It ends
    /// at the first candidate with an address; nothing else ends it.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`.
    pub(super) async fn lookup_addresses(
        &self,
        name: &[u8],
        family: Family,
    ) -> Result<Found, Failure> {
        if !is_domain_name(name) || name == b"." && self.version.root_is_no_name {
            return Err(NO_SUCH_HOST);
        }
        let both = Some(Family::Both).filter(|_| self.version.asks_both_families);
        let family = both.unwrap_or(family);
        let mut found = Found::default();
        for candidate in self.name_list(name) {
            // `fqdn == name+"."` is never so for a name that ends in a dot.
            let is_name = candidate.1 == Because::AsIs && !name.ends_with(b".");
            for result in self.ask_types(&candidate, family).await {
                match result {
                    Ok(reply) => found.addresses.extend(addresses(&reply)),
                    // The error of the name as it was given is preferred.
                    Err(error) if found.error.is_none() || is_name => {
                        found.error = Some(error);
                    }
                    Err(_) => {}
                }
            }
            if !found.addresses.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// The results for each type, in the order in which they came.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`,
    /// `queryFn` and `responseFn`.
    async fn ask_types(
        &self,
        candidate: &Candidate,
        family: Family,
    ) -> Vec<Result<Reply, Failure>> {
        let results = RefCell::new(Vec::with_capacity(2));
        let ask = async |record_type, offset| {
            let result = self.try_one_name(candidate, record_type, offset).await;
            results.borrow_mut().push((self.io.now(), result));
        };
        match family.record_types() {
            // The goroutine that was started last runs first.
            [first, last] if !self.config.has(SINGLE_REQUEST) => {
                let mut offsets = [self.server_offset(), self.server_offset()];
                if offsets[0] != offsets[1] {
                    offsets.rotate_left(self.io.choose(2, ROTATED));
                }
                let [of_last, of_first] = offsets;
                let asked = (ask(*last, of_last), ask(*first, of_first));
                self.io.at_once(AT_ONCE, asked.0, asked.1).await;
            }
            types => {
                for record_type in types {
                    ask(*record_type, self.server_offset()).await;
                }
            }
        }
        let mut results = results.into_inner();
        // The first error counts, and both goroutines wait for the other's channel.
        if let [(one_at, Err(one)), (other_at, Err(other))] = results.as_slice()
            && one != other
            && other_at.saturating_sub(*one_at) < AT_ONE_TIME
        {
            results.rotate_left(self.io.choose(2, ENDS_FIRST));
        }
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// The names to ask for, in order.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: dnsConfig.nameList`.
    fn name_list(&self, name: &[u8]) -> Vec<Candidate> {
        let old = self.version.onion_by_given_name;
        if old && avoid_dns(name) || self.version.refuses_254_bytes && name.len() == MAX_NAME_BYTES
        {
            return Vec::new();
        }
        let avoid = |name: &[u8]| !old && avoid_dns(name);
        if name.ends_with(b".") {
            let asked = (name.to_vec(), Because::AsIs);
            return Some(asked).filter(|_| !avoid(name)).into_iter().collect();
        }
        let dots = name.iter().filter(|&&byte| byte == b'.').count();
        let ndots = self.config.reading.ndots.map_or(0, |ndots| ndots.value);
        let has_ndots = dots >= ndots as usize;
        let as_is = || (ensure_rooted(name.to_vec()), Because::AsIs);
        let mut names = Vec::with_capacity(1 + self.config.reading.search.len());
        if has_ndots && !avoid(name) {
            names.push(as_is());
        }
        for (index, suffix) in self.config.reading.search.iter().enumerate() {
            let candidate = ensure_rooted([name, &suffix.value].join(&b'.'));
            if candidate.len() <= MAX_NAME_BYTES && !avoid(&candidate) {
                names.push((candidate, Because::Search(index)));
            }
        }
        if !has_ndots && !avoid(name) {
            names.push(as_is());
        }
        names
    }

    /// Asks the servers in turn, in rounds, until one knows about the name.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.tryOneName`.
    async fn try_one_name(
        &self,
        (text, because): &Candidate,
        record_type: RecordType,
        offset: usize,
    ) -> Result<Reply, Failure> {
        let servers = &self.config.reading.servers;
        // Go finds out anew with every server, before it opens a socket.
        let name = pack(text).ok_or(CANNOT_MARSHAL)?;
        let mut last_error = CANNOT_MARSHAL;
        for _ in 0..self.config.reading.attempts.value {
            for server in servers.iter().cycle().skip(offset).take(servers.len()) {
                let question = (&name, record_type, because);
                let result = match self.exchange(&server.value, question).await {
                    Ok(reply) => self.check(reply, record_type),
                    Err(error) => Err(error),
                };
                match result {
                    Ok(reply) => return Ok(reply),
                    Err(NO_SUCH_HOST) => return Err(NO_SUCH_HOST),
                    Err(error) => last_error = error,
                }
            }
        }
        Err(last_error)
    }

    /// Source: Go `src/net/dnsconfig.go: dnsConfig.serverOffset`.
    fn server_offset(&self) -> usize {
        if !self.config.has(ROTATE) {
            return 0;
        }
        let offset = self.server_offset.get();
        self.server_offset.set(offset + 1);
        offset % self.config.reading.servers.len().max(1)
    }

    /// Whether the reply answers: it has a record of the type.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: checkHeader, skipToAnswer`.
    fn check(&self, reply: Reply, record_type: RecordType) -> Result<Reply, Failure> {
        if reply.rcode == Rcode::NxDomain {
            return Err(NO_SUCH_HOST);
        }
        let first = self.answer_header(reply.answers.first())?;
        if reply.rcode != Rcode::NoError {
            return Err(SERVER_MISBEHAVING);
        }
        let additional = reply.opt && self.version.additional_is_not_lame;
        if first.is_none() && !reply.authoritative && !reply.recursion_available && !additional {
            return Err(LAME_REFERRAL);
        }
        for record in &reply.answers {
            self.answer_header(Some(record))?;
            if record.data.record_type() == record_type {
                return Ok(reply);
            }
        }
        Err(NO_SUCH_HOST)
    }

    /// Source: Go `golang.org/x/net/dns/dnsmessage/message.go: Parser.AnswerHeader`.
    fn answer_header<'r>(&self, record: Option<&'r Record>) -> Result<Option<&'r Record>, Failure> {
        let unreadable = |record: &Record| record.name.labels().any(|label| label.contains(&b'.'));
        if self.version.refuses_dots_in_labels && record.is_some_and(unreadable) {
            return Err(CANNOT_UNMARSHAL);
        }
        Ok(record)
    }
}

/// The addresses of the answer, whatever name they belong to.
///
/// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`.
fn addresses(reply: &Reply) -> impl Iterator<Item = Address> {
    let ips = reply.answers.iter().filter_map(|it| it.data.ip());
    ips.map(|it| it.to_canonical().into())
}

/// Source: Go `src/net/dnsconfig_unix.go: ensureRooted`.
fn ensure_rooted(mut name: Vec<u8>) -> Vec<u8> {
    if !name.ends_with(b".") {
        name.push(b'.');
    }
    name
}
